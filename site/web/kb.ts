import { diagrams } from "./diagrams";
import { graph } from "./graph";
import { near } from "./near";
import { asOf, bar, copying, live, navigation, outline, previews, scrollers } from "./page";
import { marks, search } from "./search/ui";

bar();
outline();
scrollers();
copying();
asOf();
previews();
void navigation();
void graph();
near();
diagrams();
search();
marks();
if ((window as unknown as { kb: { live?: boolean } }).kb.live) void live().catch(() => {});
