import { graph } from "./graph";
import { copying, navigation, outline, previews, theme } from "./page";
import { marks, search } from "./search/ui";

theme();
outline();
copying();
previews();
void navigation();
void graph();
search();
marks();
