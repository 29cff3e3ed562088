/**
 * The rules of one role, or of several, so that one question checks only the few rules that can answer it.
 *
 *   rules without resourceNames   by resource (with its subresource)
 *   rules with resourceNames      by name
 *   rules about paths             by text: the whole path, or what stands before the `*` at its end
 *
 * 1. `*` as a group, resource or verb is a word like any other; a question looks for its own word and for `*`. A rule for
 *    `*` + `/scale` covers the subresource `scale` of everything. A `*` inside any other text is a plain character.
 * 2. The answer equals that of a walk over all rules (rights.prop.test.ts).
 * 3. Memory grows with the words of the rules, never with their product: a role of 1.5 MB cannot fill it.
 */
import type { PolicyRule } from "../authorizer.ts";

const ALL = "*";
const NONE: readonly string[] = Object.freeze([]);

/** What is asked: one verb on one resource. `resource` is `plural` or `plural/subresource`. */
export interface ResourceQuestion {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  /** Undefined: whatever the name is, which no rule with names covers. */
  readonly name: string | undefined;
}

/** One rule, ready to be asked. Shared by all indexes that hold it. */
export interface CompiledRule {
  readonly verbs: Words;
  readonly groups: Words;
  readonly resources: readonly string[];
  readonly resourceWords: Words;
  readonly names: readonly string[];
  readonly paths: readonly string[];
  /** Equal for rules that allow the same. */
  readonly identity: string;
}

type Words = readonly string[] | ReadonlySet<string>;

/** Rules as a role holds them; what is missing or of another type counts as empty. */
export function compileRules(rules: readonly PolicyRule[]): readonly CompiledRule[] {
  return rules.map((rule) => {
    const { verbs = NONE, apiGroups = NONE, resources = NONE } = rule;
    const { resourceNames: names = NONE, nonResourceURLs: paths = NONE } = rule;
    return {
      verbs: wordsOf(verbs),
      groups: wordsOf(apiGroups),
      resources,
      resourceWords: wordsOf(resources),
      names,
      paths,
      identity: JSON.stringify([verbs, apiGroups, resources, names, paths]),
    };
  });
}

export class RuleIndex {
  readonly #byResource = new Map<string, CompiledRule[]>();
  readonly #byName = new Map<string, CompiledRule[]>();
  readonly #byPath = new Map<string, CompiledRule[]>();
  readonly #byPrefix = new Map<string, CompiledRule[]>();
  #longestPrefix = 0;

  constructor(rules: Iterable<CompiledRule>) {
    const known = new Set<string>();
    for (const rule of rules) {
      if (known.has(rule.identity)) continue;
      known.add(rule.identity);
      this.#add(rule);
    }
  }

  allowsResource(question: ResourceQuestion): boolean {
    const { resource, subresource, name } = question;
    return (
      someAllows(this.#byResource.get(resource), question) ||
      someAllows(this.#byResource.get(ALL), question) ||
      (subresource !== "" && someAllows(this.#byResource.get(`*/${subresource}`), question)) ||
      (name !== undefined && someNamedAllows(this.#byName.get(name), question))
    );
  }

  allowsPath(verb: string, path: string): boolean {
    if (someHasVerb(this.#byPath.get(path), verb)) return true;
    if (this.#byPrefix.size <= FEW_PREFIXES) {
      for (const [prefix, rules] of this.#byPrefix)
        if (path.startsWith(prefix) && someHasVerb(rules, verb)) return true;
      return false;
    }
    const longest = Math.min(path.length, this.#longestPrefix);
    for (let length = 0; length <= longest; length++)
      if (someHasVerb(this.#byPrefix.get(path.slice(0, length)), verb)) return true;
    return false;
  }

  #add(rule: CompiledRule): void {
    for (const path of rule.paths) {
      addTo(this.#byPath, path, rule);
      if (path.endsWith(ALL)) this.#addPrefix(withoutStars(path), rule);
    }
    if (rule.names.length > 0) for (const name of rule.names) addTo(this.#byName, name, rule);
    else for (const resource of rule.resources) addTo(this.#byResource, resource, rule);
  }

  #addPrefix(prefix: string, rule: CompiledRule): void {
    addTo(this.#byPrefix, prefix, rule);
    this.#longestPrefix = Math.max(this.#longestPrefix, prefix.length);
  }
}

/** With more prefixes than these, looking up each beginning of the path is cheaper than trying each prefix. */
const FEW_PREFIXES = 16;
/** Fewer words are found faster by comparing them, and need no memory of their own. */
const FEW_WORDS = 8;

function wordsOf(words: readonly string[]): Words {
  return words.length <= FEW_WORDS ? words : new Set(words);
}

function hasWord(words: Words, word: string): boolean {
  return "has" in words ? words.has(word) : words.includes(word);
}

/** Whether one of these rules, all about the resource of the question, has its verb and group. */
function someAllows(
  rules: readonly CompiledRule[] | undefined,
  { verb, group }: ResourceQuestion,
): boolean {
  if (rules === undefined) return false;
  for (const rule of rules) if (hasVerb(rule, verb) && hasGroup(rule, group)) return true;
  return false;
}

/** Whether one of these rules, all about the name of the question, covers the rest of it. */
function someNamedAllows(
  rules: readonly CompiledRule[] | undefined,
  { verb, group, resource, subresource }: ResourceQuestion,
): boolean {
  if (rules === undefined) return false;
  for (const rule of rules) {
    if (!hasVerb(rule, verb) || !hasGroup(rule, group)) continue;
    const { resourceWords: words } = rule;
    if (hasWord(words, resource) || hasWord(words, ALL)) return true;
    if (subresource !== "" && hasWord(words, `*/${subresource}`)) return true;
  }
  return false;
}

function someHasVerb(rules: readonly CompiledRule[] | undefined, verb: string): boolean {
  if (rules === undefined) return false;
  for (const rule of rules) if (hasVerb(rule, verb)) return true;
  return false;
}

function hasVerb({ verbs }: CompiledRule, verb: string): boolean {
  return hasWord(verbs, verb) || hasWord(verbs, ALL);
}

function hasGroup({ groups }: CompiledRule, group: string): boolean {
  return hasWord(groups, group) || hasWord(groups, ALL);
}

function withoutStars(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === ALL) end--;
  return text.slice(0, end);
}

function addTo(map: Map<string, CompiledRule[]>, key: string, rule: CompiledRule): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [rule]);
  // A word that stands twice in one rule counts once.
  else if (known[known.length - 1] !== rule) known.push(rule);
}
