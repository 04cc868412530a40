(()=>{(()=>{let e=document.documentElement;e.classList.add("js");try{let t=localStorage.getItem("kb-theme");(t==="dark"||t==="light")&&(e.dataset.theme=t)}catch{}})();})();
