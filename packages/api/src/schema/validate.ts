/**
 * Checking a value against a compiled schema, with the sentences and the order of a Kubernetes API server.
 *
 * 1. At one place the order is: type, anyOf/oneOf/allOf/not, string limits, format, number limits, list, enumeration,
 *    object. Fields are looked at in the order they have in the object, then required ones in the order of the schema.
 * 2. Of an anyOf or oneOf that failed, the errors of the alternative that matched best are shown. "Best" is the number of
 *    checks passed; `check` answers it, and must count as the server does.
 * 3. At most `MAX_ERRORS` are reported. Time is proportional to the size of the value times the number of alternatives.
 * 4. On updates a part that is the same as before is not an error, however wrong it is (`ratchet`): otherwise nobody could
 *    change an object after its schema became stricter. Most updates share most of an object with the one before: a first
 *    walk leaves out what is the very same value, outside of alternatives and lists, where each part counts.
 */
import { formatJsonLikeGo, showJson } from "../go-text.ts";
import {
  type FieldError,
  MAX_ERRORS,
  notSupported,
  required,
  tooLong,
  tooMany,
} from "../field-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { equalJson } from "../equal-json.ts";
import { identityOf } from "./list-types.ts";
import { formatPath } from "./prune.ts";
import {
  ARRAY,
  BOOLEAN,
  type Combined,
  type Enumeration,
  INTEGER,
  NUMBER,
  type NumberLimits,
  OBJECT,
  type SchemaNode,
  STRING,
  type StringLimits,
} from "./schema-node.ts";

/** Checks a value. `prefix` is where it stands in its object ("" for the object itself). */
export function validateValue(node: SchemaNode, value: Json, prefix = ""): readonly FieldError[] {
  const checker = new Checker(prefix);
  check(checker, node, value, undefined);
  return checker.distinctErrors();
}

/** Checks a value that replaces `old`; see 4. */
export function validateChangedValue(
  node: SchemaNode,
  value: Json,
  old: Json | undefined,
  prefix = "",
): readonly FieldError[] {
  if (old === undefined) return validateValue(node, value, prefix);
  const quick = new Checker(prefix, true);
  check(quick, node, value, old);
  if (quick.failures === 0) return NO_ERRORS;
  const checker = new Checker(prefix);
  check(checker, node, value, old);
  return checker.distinctErrors();
}

const NO_ERRORS: readonly FieldError[] = [];

class Checker {
  readonly path: (string | number)[] = [];
  /** Whether parts that are the very value they were are left out, instead of compared (4). */
  readonly skipsSame: boolean;
  readonly #prefix: string;
  #errors: FieldError[] = [];
  /** Counts also the errors that were not recorded because there are too many. */
  failures = 0;

  constructor(prefix: string, skipsSame = false) {
    this.#prefix = prefix;
    this.skipsSame = skipsSame;
  }

  /** The path as messages write it: relative to the value. */
  where(): string {
    return formatPath(this.path);
  }

  add(make: (field: string, where: string) => FieldError): void {
    this.failures++;
    if (this.#errors.length >= MAX_ERRORS) return;
    const where = this.where();
    const field =
      this.#prefix === "" || where === "" ? this.#prefix + where : `${this.#prefix}.${where}`;
    this.#errors.push(make(field === "" ? "<nil>" : field, where));
  }

  /** An error about the whole value, whose sentence names the place. */
  addGeneral(sentence: string): void {
    this.failures++;
    if (this.#errors.length >= MAX_ERRORS) return;
    const field = this.#prefix === "" ? "<nil>" : this.#prefix;
    const message = `Invalid value: "": ${sentence}`;
    this.#errors.push({ reason: "FieldValueInvalid", field, message });
  }

  mark(): Mark {
    return { failures: this.failures, recorded: this.#errors.length };
  }

  failedSince(mark: Mark): boolean {
    return this.failures > mark.failures;
  }

  /** Takes back what was added since the mark, and answers it. */
  takeBack(mark: Mark): readonly FieldError[] {
    this.failures = mark.failures;
    return this.#errors.splice(mark.recorded);
  }

  addAll(errors: readonly FieldError[]): void {
    this.failures += errors.length;
    for (const error of errors) if (this.#errors.length < MAX_ERRORS) this.#errors.push(error);
  }

  distinctErrors(): readonly FieldError[] {
    if (this.#errors.length < 2) return this.#errors;
    const seen = new Set<string>();
    return this.#errors.filter((error) => {
      const key = `${error.field}\n${error.message}`;
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    });
  }
}

interface Mark {
  readonly failures: number;
  readonly recorded: number;
}

/** Checks one place and what is below it; answers how many checks passed (2). `old` is undefined when there is none. */
function check(c: Checker, node: SchemaNode, value: Json, old: Json | undefined): number {
  if (old === undefined) return checkValue(c, node, value, old);
  if (c.skipsSame) return value === old ? 0 : checkValue(c, node, value, old);
  const mark = c.mark();
  const passed = checkValue(c, node, value, old);
  if (c.failedSince(mark) && equalJson(value, old)) c.takeBack(mark);
  return passed;
}

function checkValue(c: Checker, node: SchemaNode, value: Json, old: Json | undefined): number {
  if (value === null) return checkNull(c, node);
  const type = typeBit(value);
  let passed = 4;
  if (node.types !== 0 || node.format !== "") passed += checkType(c, node, type) ? 2 : 1;
  if (node.combined !== undefined) {
    const before = c.skipsSame ? undefined : old;
    passed += checkCombined(c, node.combined, value, before);
  }
  if (type === STRING) {
    passed += 1;
    if (node.strings !== undefined) passed += checkString(c, node, node.strings, value as string);
  } else if (type === INTEGER || type === NUMBER) {
    passed += 2;
    if (node.numbers !== undefined) checkNumber(c, node.numbers, value as number);
  } else if (type === ARRAY) {
    passed += 2 + checkList(c, node, value as readonly Json[], old);
  }
  if (node.enumeration !== undefined) checkEnumeration(c, node.enumeration, value);
  if (type === OBJECT) passed += 1 + checkObject(c, node, value as JsonObject, old);
  return passed;
}

function checkNull(c: Checker, node: SchemaNode): number {
  let passed = 1;
  if (node.types !== 0 && !node.nullable) {
    passed = 0;
    addTypeError(c, node.typeText, "null");
  }
  if (node.enumeration !== undefined) {
    const { texts } = node.enumeration;
    c.add((field) => notSupported(field, null, texts));
  }
  return passed;
}

function typeBit(value: Json): number {
  if (typeof value === "string") return STRING;
  if (typeof value === "number") return Number.isSafeInteger(value) ? INTEGER : NUMBER;
  if (typeof value === "boolean") return BOOLEAN;
  return Array.isArray(value) ? ARRAY : OBJECT;
}

const TYPE_NAMES: Readonly<Record<number, string>> = {
  [STRING]: "string",
  [INTEGER]: "integer",
  [NUMBER]: "number",
  [BOOLEAN]: "boolean",
  [ARRAY]: "array",
  [OBJECT]: "object",
};

/** The server's names for the formats that its decoder gives to numbers. */
const TYPE_FORMATS: Readonly<Record<number, string>> = { [INTEGER]: "int64", [NUMBER]: "float64" };

function checkType(c: Checker, node: SchemaNode, type: number): boolean {
  const allowed = node.types;
  if (allowed === 0 || (allowed & type) !== 0) return true;
  if (type === INTEGER && (allowed & NUMBER) !== 0) return true;
  const named = type === STRING || type === ARRAY || node.format === "";
  if (named) addTypeError(c, node.typeText, TYPE_NAMES[type] ?? "");
  else addTypeError(c, node.format, TYPE_FORMATS[type] ?? "");
  return false;
}

function addTypeError(c: Checker, wanted: string, found: string): void {
  c.add((field, where) => ({
    reason: "FieldValueTypeInvalid",
    field,
    message: `Invalid value: "${found}": ${where} in body must be of type ${wanted}: "${found}"`,
  }));
}

function addInvalid(c: Checker, value: Json, sentence: string): void {
  c.add((field, where) => ({
    reason: "FieldValueInvalid",
    field,
    message: `Invalid value: ${showJson(value)}: ${where} in body ${sentence}`,
  }));
}

function checkString(c: Checker, node: SchemaNode, limits: StringLimits, text: string): number {
  checkText(c, limits, text);
  if (limits.format === undefined) return 0;
  if (!limits.format(text)) {
    const shown = showJson(text);
    c.add((field, where) => ({
      reason: "FieldValueTypeInvalid",
      field,
      message: `Invalid value: ${shown}: ${where} in body must be of type ${node.format}: ${shown}`,
    }));
  }
  return 1;
}

/** Only the first of these limits that is broken is reported. */
function checkText(c: Checker, limits: StringLimits, text: string): void {
  const { minLength, maxLength } = limits;
  // A string has at most as many code points as UTF-16 units, and at least half as many.
  if (maxLength !== undefined && text.length > maxLength && codePoints(text) > maxLength) {
    c.add((field) => tooLong(field, maxLength));
    return;
  }
  if (minLength !== undefined && (text.length < minLength || codePoints(text) < minLength)) {
    addInvalid(c, text, `should be at least ${minLength} chars long`);
    return;
  }
  if (limits.matches !== undefined && !limits.matches(text))
    addInvalid(c, text, `should match '${limits.pattern}'`);
}

function codePoints(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0xd800 && code < 0xdc00 && isLowSurrogate(text, i + 1)) i++;
    count++;
  }
  return count;
}

function isLowSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code < 0xe000;
}

const INT32_MAX = 2_147_483_647;
const FLOAT32_MAX = 3.402_823_466_385_288_6e38;

function checkNumber(c: Checker, limits: NumberLimits, value: number): void {
  if (!fitsRange(limits, value)) {
    const format = limits.range === "" ? "(default format)" : `with format ${limits.range}`;
    c.addGeneral(`Checked value must be of type ${limits.type} ${format} in ${c.where()}`);
  }
  checkMultiple(c, limits.multipleOf, value);
  const { minimum, maximum } = limits;
  if (minimum !== undefined && (limits.exclusiveMinimum ? value <= minimum : value < minimum)) {
    const relation = limits.exclusiveMinimum ? "greater than" : "greater than or equal to";
    addInvalid(c, value, `should be ${relation} ${showJson(minimum)}`);
  }
  if (maximum !== undefined && (limits.exclusiveMaximum ? value >= maximum : value > maximum)) {
    const relation = limits.exclusiveMaximum ? "less than" : "less than or equal to";
    addInvalid(c, value, `should be ${relation} ${showJson(maximum)}`);
  }
}

function fitsRange(limits: NumberLimits, value: number): boolean {
  if (limits.type === "integer") {
    if (!Number.isInteger(value)) return false;
    return limits.range !== "int32" || (value >= -INT32_MAX - 1 && value <= INT32_MAX);
  }
  return limits.range !== "float" || Math.abs(value) <= FLOAT32_MAX;
}

function checkMultiple(c: Checker, factor: number | undefined, value: number): void {
  if (factor === undefined) return;
  if (factor <= 0) {
    addInvalid(c, factor, `factor MultipleOf declared must be positive: ${showJson(factor)}`);
    return;
  }
  const quotient = factor < 1 ? (1 / factor) * value : value / factor;
  if (!Number.isInteger(quotient))
    addInvalid(c, value, `should be a multiple of ${showJson(factor)}`);
}

function checkEnumeration(c: Checker, enumeration: Enumeration, value: Json): void {
  if (enumeration.scalars.has(value)) return;
  if (!enumeration.onlyScalars && enumeration.values.some((item) => equalJson(item, value))) return;
  c.add((field) => notSupported(field, value, enumeration.texts));
}

function checkList(
  c: Checker,
  node: SchemaNode,
  list: readonly Json[],
  old: Json | undefined,
): number {
  let passed = 0;
  const { items } = node;
  if (items !== undefined) {
    const before = old === undefined || c.skipsSame ? undefined : elementsByKey(node, old);
    for (let i = 0; i < list.length; i++) {
      const element = list[i] as Json;
      c.path.push(i);
      passed += check(c, items, element, before?.get(keyText(node, element)));
      c.path.pop();
    }
  }
  const { minItems, maxItems } = node;
  if (minItems !== undefined && list.length < minItems)
    addInvalid(c, list.length, `should have at least ${minItems} items`);
  if (maxItems !== undefined && list.length > maxItems)
    c.add((field) => tooMany(field, list.length, maxItems));
  if (node.uniqueItems && hasDuplicates(list)) addInvalid(c, "", "shouldn't contain duplicates");
  return passed;
}

function hasDuplicates(list: readonly Json[]): boolean {
  return new Set(list.map(identityOf)).size < list.length;
}

/** Elements of lists that are maps can be recognised again; those of other lists cannot. */
function elementsByKey(node: SchemaNode, old: Json): ReadonlyMap<string, Json> | undefined {
  if (node.listType !== "map" || !Array.isArray(old)) return undefined;
  return new Map(old.map((element: Json) => [keyText(node, element), element]));
}

function keyText(node: SchemaNode, element: Json): string {
  if (!isJsonObject(element)) return "";
  return formatJsonLikeGo(node.mapKeys.map((key) => element[key] ?? null));
}

function checkObject(
  c: Checker,
  node: SchemaNode,
  object: JsonObject,
  old: Json | undefined,
): number {
  let passed = 0;
  checkFieldCount(c, node, object);
  const before = isJsonObject(old) && !node.atomicMap ? old : undefined;
  for (const key in object) {
    const value = object[key];
    if (value === undefined) continue;
    const inner = node.properties.get(key) ?? node.additional;
    if (inner === undefined || inner === true) continue;
    if (inner === false) {
      addForbiddenField(c, key);
      continue;
    }
    c.path.push(key);
    passed += check(c, inner, value, previous(before, key));
    c.path.pop();
  }
  for (const name of node.required) {
    if (Object.hasOwn(object, name) && object[name] !== undefined) continue;
    c.path.push(name);
    c.add((field) => required(field));
    c.path.pop();
  }
  return passed;
}

function previous(before: JsonObject | undefined, key: string): Json | undefined {
  return before !== undefined && Object.hasOwn(before, key) ? before[key] : undefined;
}

function addForbiddenField(c: Checker, key: string): void {
  c.add((field, where) => ({
    reason: "FieldValueInvalid",
    field,
    message: `Invalid value: ${showJson(key)}: ${where}.${key} in body is a forbidden property`,
  }));
}

function checkFieldCount(c: Checker, node: SchemaNode, object: JsonObject): void {
  const { minProperties, maxProperties } = node;
  if (minProperties === undefined && maxProperties === undefined) return;
  const count = Object.keys(object).length;
  if (minProperties !== undefined && count < minProperties)
    addInvalid(c, count, `should have at least ${minProperties} properties`);
  if (maxProperties !== undefined && count > maxProperties)
    c.add((field) => tooMany(field, count, maxProperties));
}

function checkCombined(c: Checker, combined: Combined, value: Json, old: Json | undefined): number {
  let passed = 0;
  if (combined.anyOf.length > 0) passed += checkAnyOf(c, combined.anyOf, value, old);
  if (combined.oneOf.length > 0) passed += checkOneOf(c, combined.oneOf, value, old);
  if (combined.allOf.length > 0) passed += checkAllOf(c, combined.allOf, value, old);
  if (combined.not !== undefined) {
    const mark = c.mark();
    check(c, combined.not, value, old);
    const matched = !c.failedSince(mark);
    c.takeBack(mark);
    if (matched) c.addGeneral(`"${c.where()}" must not validate the schema (not)`);
  }
  return passed;
}

interface Attempt {
  readonly passed: number;
  readonly errors: readonly FieldError[];
  readonly failed: boolean;
}

function attempt(c: Checker, node: SchemaNode, value: Json, old: Json | undefined): Attempt {
  const mark = c.mark();
  const passed = check(c, node, value, old);
  const failed = c.failedSince(mark);
  return { passed, failed, errors: c.takeBack(mark) };
}

function checkAnyOf(
  c: Checker,
  alternatives: readonly SchemaNode[],
  value: Json,
  old: Json | undefined,
): number {
  let best: Attempt | undefined;
  for (const alternative of alternatives) {
    const tried = attempt(c, alternative, value, old);
    if (!tried.failed) return tried.passed;
    if (best === undefined || tried.passed > best.passed) best = tried;
  }
  c.addGeneral(`"${c.where()}" must validate at least one schema (anyOf)`);
  c.addAll(best?.errors ?? []);
  return best?.passed ?? 0;
}

function checkOneOf(
  c: Checker,
  alternatives: readonly SchemaNode[],
  value: Json,
  old: Json | undefined,
): number {
  let best: Attempt | undefined;
  let first: Attempt | undefined;
  let matching = 0;
  for (const alternative of alternatives) {
    const tried = attempt(c, alternative, value, old);
    if (!tried.failed) {
      matching++;
      first ??= tried;
    } else if (best === undefined || tried.passed > best.passed) best = tried;
  }
  if (matching === 1) return first?.passed ?? 0;
  const found = matching === 0 ? "Found none valid" : `Found ${matching} valid alternatives`;
  c.addGeneral(`"${c.where()}" must validate one and only one schema (oneOf). ${found}`);
  if (matching > 0) return 0;
  c.addAll(best?.errors ?? []);
  return best?.passed ?? 0;
}

function checkAllOf(
  c: Checker,
  parts: readonly SchemaNode[],
  value: Json,
  old: Json | undefined,
): number {
  let passed = 0;
  let failed = 0;
  for (const part of parts) {
    const mark = c.mark();
    passed += check(c, part, value, old);
    if (c.failedSince(mark)) failed++;
  }
  if (failed === 0) return passed;
  const none = failed === parts.length ? ". None validated" : "";
  c.addGeneral(`"${c.where()}" must validate all the schemas (allOf)${none}`);
  return passed;
}
