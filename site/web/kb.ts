import { graph } from "./graph";
import { copying, live, navigation, outline, previews, theme } from "./page";
import { marks, search } from "./search/ui";

theme();
outline();
copying();
previews();
void navigation();
void graph();
search();
marks();
if ((window as unknown as { kb: { live?: boolean } }).kb.live) void live().catch(() => {});
