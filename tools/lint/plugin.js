/**
 * Lint rule `lifeboat/ports-only`: outside adapters, time, timers and randomness come through ports only.
 * `new Date(value)` converts and is fine; `new Date()` reads the wall clock and is not.
 */
import { caughtErrors } from "./caught-errors.js";
import { folders } from "./folders.js";
import { layers } from "./layers.js";

const BANNED_CALLS = new Set([
  "setTimeout",
  "setInterval",
  "setImmediate",
  "Date.now",
  "Math.random",
  "performance.now",
  "process.hrtime",
  "crypto.randomUUID",
  "crypto.getRandomValues",
  "AbortSignal.timeout",
]);

const calleeName = (callee) => {
  if (callee.type === "Identifier") return callee.name;
  if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier") return "";
  return callee.property.type === "Identifier"
    ? `${callee.object.name}.${callee.property.name}`
    : "";
};

const portsOnly = {
  create(context) {
    const report = (node, name) => {
      context.report({
        node,
        message: `${name} is for adapters: take a Clock, Random or Ids instead`,
      });
    };
    return {
      CallExpression(node) {
        const name = calleeName(node.callee);
        if (BANNED_CALLS.has(name)) report(node, name);
      },
      NewExpression(node) {
        const wallClock =
          node.callee.type === "Identifier" &&
          node.callee.name === "Date" &&
          node.arguments.length === 0;
        if (wallClock) report(node, "new Date()");
        if (
          node.callee.type === "Identifier" &&
          /^(WeakRef|FinalizationRegistry)$/.test(node.callee.name)
        ) {
          report(node, node.callee.name);
        }
      },
    };
  },
};

export default {
  meta: { name: "lifeboat" },
  rules: { layers, folders, "caught-errors": caughtErrors, "ports-only": portsOnly },
};
