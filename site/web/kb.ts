import { graph } from "./graph";
import { copying, navigation, outline, previews, theme } from "./page";

theme();
outline();
copying();
previews();
void navigation();
void graph();
