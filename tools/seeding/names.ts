/** Which names a source uses as values but does not declare: a fault that uses one would be caught by a ReferenceError alone. */
import { type Node, parseSource, partOf, partsOf } from "./syntax.ts";

/** Names that are not declared where they are used, without those that Node knows everywhere. */
export function undeclaredNames(file: string, source: string): readonly string[] {
  const { program } = parseSource(file, source, true);
  const found = new Set<string>();
  visit(program, [new Set(Object.getOwnPropertyNames(globalThis)), new Set(["undefined"])], found);
  return [...found].toSorted();
}

type Scopes = readonly ReadonlySet<string>[];

function visit(node: Node, scopes: Scopes, found: Set<string>): void {
  if (node.type === "TSClassImplements") return;
  if (node.type.startsWith("TS")) {
    const inner = partOf(node, "expression");
    if (inner !== undefined) visit(inner, scopes, found);
    return;
  }
  if (node.type === "Identifier") {
    const name = node["name"] as string;
    if (!scopes.some((scope) => scope.has(name))) found.add(name);
    return;
  }
  const inside = opensScope(node) ? [...scopes, new Set(declarations(node))] : scopes;
  for (const part of valueParts(node)) visit(part, inside, found);
}

/** Parts in which identifiers are values: no keys, no labels, no names in import and export lists. */
function valueParts(node: Node): readonly Node[] {
  const parts = partsOf(node);
  if (/^(Import\w+|Export\w*Specifier|BreakStatement|ContinueStatement)$/.test(node.type))
    return [];
  if (node.type === "ExportAllDeclaration" || node.type === "MetaProperty") return [];
  const isKeyed =
    /^(MemberExpression|Property|MethodDefinition|PropertyDefinition|LabeledStatement)$/;
  if (!isKeyed.test(node.type) || node["computed"] === true) return parts;
  const key = partOf(node, "key") ?? partOf(node, "property") ?? partOf(node, "label");
  return parts.filter((part) => part !== key);
}

function opensScope({ type }: Node): boolean {
  return /^(Program|BlockStatement|For(In|Of)?Statement|CatchClause|SwitchStatement|ClassDeclaration|ClassExpression|StaticBlock|FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(
    type,
  );
}

/** What a scope declares: its parameters and what stands directly in it. */
function declarations(scope: Node): readonly string[] {
  const own = [partOf(scope, "id"), partOf(scope, "param"), ...listOf(scope, "params")];
  const statements = [
    ...listOf(scope, "body"),
    ...listOf(scope, "cases").flatMap((one) => listOf(one, "consequent")),
    partOf(scope, "init"),
    partOf(scope, "left"),
  ];
  return [...own, ...statements].flatMap((node) => {
    if (node === undefined) return [];
    return own.includes(node) ? namesOfPattern(node) : namesOfStatement(node);
  });
}

function namesOfStatement(node: Node): readonly string[] {
  if (node["importKind"] === "type") return [];
  const inner = node.type.startsWith("Export") ? partOf(node, "declaration") : undefined;
  if (inner !== undefined) return namesOfStatement(inner);
  if (node.type === "ImportDeclaration")
    return listOf(node, "specifiers")
      .filter((one) => one["importKind"] !== "type")
      .flatMap((one) => namesOfPattern(partOf(one, "local")));
  if (node.type === "VariableDeclaration")
    return listOf(node, "declarations").flatMap((one) => namesOfPattern(partOf(one, "id")));
  const isNamed = node.type === "FunctionDeclaration" || node.type === "ClassDeclaration";
  return isNamed ? namesOfPattern(partOf(node, "id")) : [];
}

/** The names that a pattern binds. */
function namesOfPattern(node: Node | undefined): readonly string[] {
  if (node === undefined) return [];
  if (node.type === "Identifier") return [node["name"] as string];
  if (node.type === "AssignmentPattern") return namesOfPattern(partOf(node, "left"));
  if (node.type === "RestElement") return namesOfPattern(partOf(node, "argument"));
  if (node.type === "Property") return namesOfPattern(partOf(node, "value"));
  return partsOf(node).flatMap(namesOfPattern);
}

function listOf(node: Node, name: string): readonly Node[] {
  const list = node[name];
  return Array.isArray(list) ? list.filter((one): one is Node => one !== null) : [];
}
