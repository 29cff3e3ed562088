/**
 * Lint rule `lifeboat/caught-errors`: no error vanishes. A `catch` does one of these:
 *
 *   it uses the error       hands it on, tells it, or decides by it which errors it knows
 *   it tries a text         nothing is awaited in its `try`: a parser or the like throws on what it cannot read
 *   it says why             a comment in it says why no error matters there
 *
 * The same holds for `.catch(…)` of a promise, whose function must take the error or say why it does not.
 */
const visitorKeysToSkip = new Set(["parent", "loc", "range", "start", "end", "type"]);

/** Whether something in a tree fits, functions that are only defined in it left out if asked for. */
function some(node, fits, isClosed = () => false) {
  if (node === null || typeof node !== "object") return false;
  if (Array.isArray(node)) return node.some((item) => some(item, fits, isClosed));
  if (typeof node.type !== "string") return false;
  if (fits(node)) return true;
  if (isClosed(node)) return false;
  return Object.entries(node).some(
    ([key, value]) => !visitorKeysToSkip.has(key) && some(value, fits, isClosed),
  );
}

const isFunction = ({ type }) => /Function/.test(type);
const isAwait = (node) =>
  node.type === "AwaitExpression" || (node.type === "ForOfStatement" && node.await === true);

function namesIn(pattern) {
  const names = new Set();
  some(pattern, (node) => {
    if (node.type === "Identifier") names.add(node.name);
    return false;
  });
  return names;
}

const uses = (body, names) =>
  some(body, (node) => node.type === "Identifier" && names.has(node.name));

const MESSAGE =
  "an error vanishes here: use it, or say in a comment in the catch why no error matters";

const check = (context) => {
  const { sourceCode } = context;
  const saysWhy = (node) =>
    sourceCode
      .getAllComments()
      .some(({ range: [start, end] }) => start > node.range[0] && end < node.range[1]);
  return {
    TryStatement({ block, handler }) {
      if (handler === null) return;
      const isUsed = handler.param !== null && uses(handler.body, namesIn(handler.param));
      const isText = handler.param === null && !some(block, isAwait, isFunction);
      if (!isUsed && !isText && !saysWhy(handler))
        context.report({ node: handler, message: MESSAGE });
    },
    CallExpression(node) {
      const { callee, arguments: given } = node;
      const isCatch =
        callee.type === "MemberExpression" &&
        callee.property.type === "Identifier" &&
        callee.property.name === "catch" &&
        given.length === 1;
      if (!isCatch || !isFunction(given[0])) return;
      const [handler] = given;
      const isUsed = handler.params.length > 0 && uses(handler.body, namesIn(handler.params));
      if (!isUsed && !saysWhy(handler)) context.report({ node: handler, message: MESSAGE });
    },
  };
};

export const caughtErrors = { create: check };
