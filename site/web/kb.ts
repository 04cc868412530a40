import { diagrams } from "./diagrams";
import { graph } from "./graph";
import { near } from "./near";
import { asOf, copying, live, navigation, outline, previews, scrollers, theme } from "./page";
import { marks, search } from "./search/ui";

theme();
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
