/**
 * Static bearer tokens from a file, in the form kube-apiserver's `--token-auth-file` has: one line per token,
 * `token,user,uid,"group1,group2"`, the groups optional. Lines that begin with `#` and empty lines are passed over.
 */
import { readFileSync } from "node:fs";
import type { User } from "@lifeboat/apiserver";
import { UsageError } from "./failure.ts";

export function readTokenFile(path: string): ReadonlyMap<string, User> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--token-auth-file ${path} cannot be read: ${why}`);
  }
  return parseTokens(text, path);
}

export function parseTokens(text: string, path: string): ReadonlyMap<string, User> {
  const tokens = new Map<string, User>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const [token = "", name = "", uid = "", groups = ""] = splitFields(line);
    const place = `--token-auth-file ${path}, line ${index + 1}`;
    if (token === "" || name === "")
      throw new UsageError(`${place}: a token and a user are needed`);
    if (tokens.has(token)) throw new UsageError(`${place}: the same token stands above`);
    const named = groups.split(",").filter((group) => group !== "");
    // As for every authenticated user, whatever the file says.
    const all = [...named, "system:authenticated"];
    tokens.set(token, { name, groups: all, ...(uid === "" ? {} : { uid }) });
  }
  return tokens;
}

/** Fields by comma; a field in double quotes may hold commas, and a doubled quote stands for one. */
function splitFields(line: string): readonly string[] {
  const fields: string[] = [];
  for (const [, quoted, plain] of line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)) {
    fields.push(quoted === undefined ? (plain ?? "").trim() : quoted.replaceAll('""', '"'));
  }
  return fields;
}
