/**
 * Label selectors: the text form of URLs and command lines (`app=web,tier in (a,b),!old`), and the object form of
 * specs (`matchLabels`, `matchExpressions`). Both become a list of requirements, all of which must hold.
 *
 * The text form is read as a Kubernetes API server reads it, with its error messages. An empty list matches
 * everything.
 */
import { unreachable } from "@lifeboat/base";
import { type FieldError, forbidden, invalid, required, showValue } from "../field-error.ts";
import { labelKeyProblems, labelValueProblems } from "../metadata/names.ts";
import { validateLabels } from "../metadata/validate-metadata.ts";
import { badRequest } from "../status.ts";
import { type Token, tokenize } from "./label-tokens.ts";

export type LabelOperator =
  | "="
  | "=="
  | "!="
  | "in"
  | "notin"
  | "exists"
  | "!"
  /** Greater than: the label's value and the given one are compared as integers. */
  | "gt"
  | "lt";

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Sorted. */
  readonly values: readonly string[];
}

/** A selector as specs write it. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelExpression[];
}

export interface LabelExpression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export type Labels = Readonly<Record<string, string>>;

/** Reads the text form; throws Refused (400) with the server's message. */
export function parseLabelSelector(text: string): LabelRequirement[] {
  if (text === "") return [];
  return new Parser(tokenize(text)).selector();
}

/** Whether labels satisfy all requirements. */
export function matchesLabels(
  requirements: readonly LabelRequirement[],
  labels: Labels | undefined,
): boolean {
  for (const requirement of requirements) {
    if (!matchesRequirement(requirement, labels)) return false;
  }
  return true;
}

/**
 * The requirements of a selector in a spec. It must be valid (see `validateLabelSelector`); an expression with an
 * unknown operator matches nothing. An absent selector matches nothing, an empty one everything: that is for the
 * caller to tell apart.
 */
export function labelSelectorFrom(selector: LabelSelector): LabelRequirement[] {
  const requirements: LabelRequirement[] = [];
  for (const [key, value] of Object.entries(selector.matchLabels ?? {}))
    requirements.push({ key, operator: "=", values: [value] });
  for (const { key, operator: name, values = [] } of selector.matchExpressions ?? []) {
    const operator = OPERATORS.get(name);
    requirements.push(
      operator === undefined
        ? { key, operator: "in", values: [] }
        : { key, operator, values: values.toSorted() },
    );
  }
  return requirements.sort(byKey);
}

/** What is wrong with a selector in a spec; `field` is its path, such as `spec.selector`. */
export function validateLabelSelector(selector: LabelSelector, field: string): FieldError[] {
  const errors = validateLabels(selector.matchLabels, `${field}.matchLabels`);
  for (const [i, expression] of (selector.matchExpressions ?? []).entries())
    validateExpression(errors, expression, `${field}.matchExpressions[${i}]`);
  return errors;
}

/** The text form of requirements, as servers write it. */
export function formatLabelSelector(requirements: readonly LabelRequirement[]): string {
  return requirements.map(formatRequirement).join(",");
}

const OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ["In", "in"],
  ["NotIn", "notin"],
  ["Exists", "exists"],
  ["DoesNotExist", "!"],
]);

/** Appends, because an expression can be wrong in more ways than a call can have arguments. */
function validateExpression(
  errors: FieldError[],
  expression: LabelExpression,
  field: string,
): void {
  const { key = "", operator = "", values = [] } = expression as Partial<LabelExpression>;
  if (operator === "In" || operator === "NotIn") {
    if (values.length === 0)
      errors.push(
        required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'"),
      );
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (values.length > 0)
      errors.push(
        forbidden(
          `${field}.values`,
          "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        ),
      );
  } else {
    errors.push(invalid(`${field}.operator`, operator, "not a valid selector operator"));
  }
  for (const problem of labelKeyProblems(key)) errors.push(invalid(`${field}.key`, key, problem));
  for (const [i, value] of values.entries()) {
    for (const problem of labelValueProblems(value))
      errors.push(invalid(`${field}.values[${i}]`, value, problem));
  }
}

function matchesRequirement(requirement: LabelRequirement, labels: Labels | undefined): boolean {
  const { key, operator, values } = requirement;
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "=":
    case "==":
    case "in":
      return value !== undefined && values.includes(value);
    case "!=":
    case "notin":
      return value === undefined || !values.includes(value);
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    case "gt":
      return value !== undefined && compareIntegers(value, values[0]) === 1;
    case "lt":
      return value !== undefined && compareIntegers(value, values[0]) === -1;
    default:
      return unreachable(operator);
  }
}

/** 1, 0 or -1; undefined when one of them is no 64-bit integer. */
function compareIntegers(a: string, b: string | undefined): 1 | 0 | -1 | undefined {
  const left = parseInt64(a);
  const right = b === undefined ? undefined : parseInt64(b);
  if (left === undefined || right === undefined) return undefined;
  if (left === right) return 0;
  return left > right ? 1 : -1;
}

function parseInt64(text: string): bigint | undefined {
  // Label values have at most 63 bytes, so this is cheap.
  if (text.length > 63) return undefined;
  const start = text[0] === "-" || text[0] === "+" ? 1 : 0;
  if (start === text.length) return undefined;
  for (let i = start; i < text.length; i++) {
    if (text.charCodeAt(i) < 0x30 || text.charCodeAt(i) > 0x39) return undefined;
  }
  const value = BigInt(text[0] === "+" ? text.slice(1) : text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case "exists":
      return key;
    case "!":
      return `!${key}`;
    case "in":
    case "notin":
      return `${key} ${operator} (${values.join(",")})`;
    case "gt":
      return `${key}>${values.join(",")}`;
    case "lt":
      return `${key}<${values.join(",")}`;
    case "=":
    case "==":
    case "!=":
      return `${key}${operator}${values.join(",")}`;
    default:
      return unreachable(operator);
  }
}

function sortedSet(values: Iterable<string>): string[] {
  return [...new Set(values)].sort();
}

function byKey(a: LabelRequirement, b: LabelRequirement): number {
  if (a.key === b.key) return 0;
  return a.key < b.key ? -1 : 1;
}

const BINARY_OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ["in", "in"],
  ["notin", "notin"],
  ["=", "="],
  ["==", "=="],
  ["!=", "!="],
  [">", "gt"],
  ["<", "lt"],
]);

/** Recursive descent over the tokens. `in` and `notin` are words wherever no operator is expected. */
class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  selector(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      const token = this.#peek();
      if (token.kind === "end") break;
      if (token.kind !== "word" && token.text !== "!")
        throw badRequest(`found '${token.text}', expected: !, identifier, or 'end of string'`);
      requirements.push(this.#requirement());
      const next = this.#next();
      if (next.kind === "end") break;
      if (next.text !== ",")
        throw badRequest(`found '${next.text}', expected: ',' or 'end of string'`);
      const after = this.#peek();
      if (after.kind !== "word" && after.text !== "!")
        throw badRequest(`found '${after.text}', expected: identifier after ','`);
    }
    return requirements.sort(byKey);
  }

  #requirement(): LabelRequirement {
    const first = this.#next();
    const negated = first.text === "!" && first.kind === "sign";
    const key = negated ? this.#next() : first;
    if (key.kind !== "word") this.#fail(`found '${key.text}', expected: identifier`);
    const problems = labelKeyProblems(key.text);
    // Here the server has no field to name, and shows that it has none.
    if (problems.length > 0)
      this.#fail(`<nil>: Invalid value: ${showValue(key.text)}: ${problems.join("; ")}`);
    if (negated) return { key: key.text, operator: "!", values: [] };
    if (this.#endsRequirement()) return { key: key.text, operator: "exists", values: [] };
    const operator = this.#operator();
    const values =
      operator === "in" || operator === "notin" ? this.#valueSet() : [this.#exactValue()];
    this.#checkValues(key.text, operator, values);
    return { key: key.text, operator, values };
  }

  #endsRequirement(): boolean {
    const token = this.#peek();
    return token.kind === "end" || token.text === ",";
  }

  #operator(): LabelOperator {
    const token = this.#next();
    const operator = BINARY_OPERATORS.get(token.text);
    if (operator === undefined)
      this.#fail(`found '${token.text}', expected: in, notin, =, ==, !=, gt, lt`);
    return operator;
  }

  #exactValue(): string {
    if (this.#endsRequirement()) return "";
    const token = this.#next();
    if (token.kind !== "word") this.#fail(`found '${token.text}', expected: identifier`);
    return token.text;
  }

  #valueSet(): string[] {
    const open = this.#next();
    if (open.text !== "(") this.#fail(`found '${open.text}' expected: '('`);
    const first = this.#peek();
    if (first.text === ")") {
      this.#at += 1;
      return [""];
    }
    if (first.kind !== "word" && first.text !== ",")
      this.#fail(`found '${first.text}', expected: ',', ')' or identifier`);
    return sortedSet(this.#valueList());
  }

  /** Values between commas, up to and including the closing parenthesis; nothing between two commas is "". */
  #valueList(): Set<string> {
    const values = new Set<string>();
    for (;;) {
      const token = this.#next();
      const following = this.#peek().text;
      if (token.kind === "word") {
        values.add(token.text);
        if (following !== "," && following !== ")")
          this.#fail(`found '${following}', expected: ',' or ')'`);
      } else if (token.text === ",") {
        if (values.size === 0 || following === "," || following === ")") values.add("");
      } else {
        this.#fail(`found '${token.text}', expected: ',', or identifier`);
      }
      if (following === ")") break;
    }
    this.#at += 1;
    return values;
  }

  #checkValues(key: string, operator: LabelOperator, values: readonly string[]): void {
    const problems: string[] = [];
    for (const [i, value] of values.entries()) {
      if ((operator === "gt" || operator === "lt") && parseInt64(value) === undefined)
        problems.push(
          `values[${i}]: Invalid value: ${showValue(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
        );
    }
    for (const [i, value] of values.entries()) {
      const wrong = labelValueProblems(value);
      if (wrong.length > 0)
        problems.push(
          `values[${i}][${key}]: Invalid value: ${showValue(value)}: ${wrong.join("; ")}`,
        );
    }
    const [only] = problems;
    if (only !== undefined) this.#fail(problems.length === 1 ? only : `[${problems.join(", ")}]`);
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? END;
  }

  #next(): Token {
    const token = this.#peek();
    this.#at += 1;
    return token;
  }

  #fail(problem: string): never {
    throw badRequest(`unable to parse requirement: ${problem}`);
  }
}

const END: Token = { kind: "end", text: "" };
