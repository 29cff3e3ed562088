/**
 * The settings of encryption at rest: `--encryption-key-file` and `--encrypt-resources`.
 *
 * 1. A key file that others can read, or that lies in the data directory beside what it protects, is refused.
 * 2. Works hold copies of Secrets; they are encrypted by default as Secrets are.
 */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { sep } from "node:path";
import {
  createKeyring,
  type EncryptionOptions,
  EncryptionRefused,
  parseKeys,
} from "@lifeboat/apiserver/adapters";
import { UsageError } from "./failure.ts";
import type { OptionDefinition } from "./options.ts";
import type { Settings } from "./settings.ts";

export const encryptionOptions: readonly OptionDefinition[] = [
  {
    name: "encryption-key-file",
    type: "text",
    value: "FILE",
    help: "Encrypt on the disk with the first key of FILE (32 bytes as base64 or hex, one a line); the others decrypt",
  },
  {
    name: "encrypt-resources",
    type: "text",
    value: "LIST",
    default: "secrets,works.work.karmada.io",
    help: "What --encryption-key-file encrypts: plural or plural.group, with commas",
  },
];

/** Reads the keys; throws UsageError with a sentence. Without a key file nothing is encrypted. */
export function encryptionFrom(
  settings: Pick<Settings, "text" | "requiredText">,
  dataDirectory: string,
): Pick<EncryptionOptions, "keyring" | "tables"> {
  const tables = new Set(parseResources(settings.requiredText("encrypt-resources")));
  const file = settings.text("encryption-key-file");
  if (file === undefined) return { keyring: createKeyring([]), tables: new Set() };
  return { keyring: createKeyring(readKeys(file, dataDirectory)), tables };
}

function parseResources(text: string): readonly string[] {
  return text.split(",").map((entry) => {
    const [plural = "", ...group] = entry.trim().split(".");
    if (!/^[a-z0-9-]+$/.test(plural) || !/^[a-z0-9.-]*$/.test(group.join(".")))
      throw new UsageError(
        `--encrypt-resources: "${entry}" is not valid: plural or plural.group is needed, such as secrets`,
      );
    return `${group.join(".")}/${plural}`;
  });
}

function readKeys(file: string, dataDirectory: string): readonly Buffer[] {
  try {
    const { mode } = statSync(file);
    if ((mode & 0o077) !== 0)
      throw new EncryptionRefused("others than its owner may use it: chmod 600 it");
    if (isInside(realpathSync(file), dataDirectory))
      throw new EncryptionRefused(
        `it lies in the data directory ${dataDirectory}, beside what it protects: keep it elsewhere`,
      );
    return parseKeys(readFileSync(file, "utf8"));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--encryption-key-file ${file} cannot be used: ${why}`);
  }
}

/** The data directory need not exist yet. */
function isInside(path: string, directory: string): boolean {
  try {
    return path.startsWith(`${realpathSync(directory)}${sep}`);
  } catch {
    return false;
  }
}
