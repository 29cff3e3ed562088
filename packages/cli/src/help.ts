/** How help is laid out: within the width of everything else that people read. */
import { Help, type HelpConfiguration } from "commander";
import { hanging } from "./wrap.ts";

/** Beside longer terms no room is left for what they mean: it goes on lines of its own. */
const WIDEST_TERM = 34;

export const helpFormat: HelpConfiguration = {
  formatItem: (term, termWidth, description, helper) =>
    termWidth <= WIDEST_TERM
      ? Help.prototype.formatItem.call(helper, term, termWidth, description, helper)
      : [`  ${term}`, ...hanging("      ", description)].join("\n"),
};
