/** The flags of the audit log, named as those of kube-apiserver, and the log that they ask for. */
import { readFileSync } from "node:fs";
import type { Clock } from "@lifeboat/base";
import {
  AUDIT_MODES,
  type AuditMode,
  type Auditor,
  type AuditPolicy,
  createAuditor,
  DEFAULT_POLICY,
  parsePolicy,
} from "@lifeboat/apiserver";
import { type AuditLogFile, openAuditLogFile } from "@lifeboat/apiserver/adapters";
import type { Log, Metrics } from "@lifeboat/kit";
import { parse } from "yaml";
import { UsageError } from "./failure.ts";
import type { OptionDefinition } from "./options.ts";
import type { Settings } from "./settings.ts";

export const auditOptions: readonly OptionDefinition[] = [
  {
    name: "audit-log-path",
    type: "text",
    value: "FILE",
    help: "Record requests in FILE as JSON lines (audit.k8s.io/v1); absent: nothing is recorded",
  },
  {
    name: "audit-policy-file",
    type: "text",
    value: "FILE",
    help: "What is recorded: a Policy of audit.k8s.io/v1; absent: which user changed what, without bodies and without reads",
  },
  {
    name: "audit-log-mode",
    type: "text",
    value: "MODE",
    default: "blocking",
    help: "batch: answers do not wait for the log; blocking: they do; blocking-strict: what cannot be recorded is refused",
  },
  {
    name: "audit-log-maxsize",
    type: "integer",
    value: "MB",
    default: "100",
    min: 0,
    help: "The size at which the file is put aside; 0: never",
  },
  {
    name: "audit-log-maxbackup",
    type: "integer",
    value: "N",
    default: "10",
    min: 0,
    help: "How many old files are kept; 0: all",
  },
  {
    name: "audit-log-maxage",
    type: "integer",
    value: "DAYS",
    default: "0",
    min: 0,
    help: "How many days old files are kept; 0: any number",
  },
];

export interface Audit {
  readonly auditor: Auditor | undefined;
  close(): Promise<void>;
}

const MB = 1_000_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Reads the settings; throws UsageError before anything is opened. */
export function auditFrom(
  settings: Settings,
): (ports: {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
}) => Promise<Audit> {
  const path = settings.text("audit-log-path");
  const policy = readPolicy(settings.text("audit-policy-file"));
  const mode = parseMode(settings.requiredText("audit-log-mode"));
  if (path === undefined)
    return () => Promise.resolve({ auditor: undefined, close: () => Promise.resolve() });
  return async ({ clock, metrics, log }) => {
    const file: AuditLogFile = await openAuditLogFile(path, {
      mode,
      maxBytes: settings.number("audit-log-maxsize") * MB,
      maxBackups: settings.number("audit-log-maxbackup"),
      maxAgeMs: settings.number("audit-log-maxage") * DAY_MS,
      warn: (sentence) => log.warn(sentence),
    });
    const auditor = createAuditor({ clock, metrics, log: file }, policy, mode);
    return { auditor, close: () => file.close() };
  };
}

function parseMode(text: string): AuditMode {
  const mode = AUDIT_MODES.find((one) => one === text);
  if (mode === undefined)
    throw new UsageError(
      `--audit-log-mode: "${text}" is not valid: one of ${AUDIT_MODES.join(", ")} is needed`,
    );
  return mode;
}

function readPolicy(path: string | undefined): AuditPolicy {
  if (path === undefined) return DEFAULT_POLICY;
  try {
    return parsePolicy(parse(readFileSync(path, "utf8")));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--audit-policy-file ${path} cannot be used: ${why}`);
  }
}
