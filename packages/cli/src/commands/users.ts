/**
 * `lifeboat users`: people and programs that use the control plane with a certificate of their own.
 *
 *     users add NAME     makes a key here, has its certificate signed, binds roles, and prints the kubeconfig
 *     users list         who was added, with what, and until when
 */
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { createRealClock } from "@lifeboat/base/adapters";
import { makeCertificateRequest, readCertificate } from "@lifeboat/kit/adapters";
import { addUser, listUsers } from "@lifeboat/plane";
import type { Command } from "commander";
import { UsageError } from "../failure.ts";
import { planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { kubeconfigFor } from "../plane-kubeconfig.ts";
import { outputFrom, outputOption, show } from "../output.ts";
import { declareOptions, readSettings } from "../settings.ts";
import { withPlane } from "../with-plane.ts";
import { columns } from "../wrap.ts";
import { tell } from "../tell.ts";

const DAY_MS = 24 * 3600 * 1000;

export const usersListOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  outputOption(["text"]),
];
export const usersAddOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  {
    name: "group",
    type: "text",
    commandLineOnly: true,
    value: "GROUPS",
    help: "The user's groups, separated by commas",
  },
  {
    name: "role",
    type: "text",
    commandLineOnly: true,
    value: "ROLES",
    help: "ClusterRoles to bind, separated by commas, such as view, edit, admin or cluster-admin",
  },
  {
    name: "namespace",
    short: "n",
    type: "text",
    commandLineOnly: true,
    value: "NAMESPACE",
    help: "Where the roles count; default everywhere",
  },
  {
    name: "ttl",
    type: "duration",
    value: "TIME",
    default: "2160h",
    min: 600_000,
    max: 365 * DAY_MS,
    help: "How long the certificate counts",
  },
  {
    name: "output",
    short: "o",
    type: "text",
    value: "FILE",
    help: "Where the kubeconfig is written, readable by its owner only; default standard output",
  },
];

export function addUsers(program: Command): void {
  const parent = program.command("users").description("Add and list users with certificates");
  const add = parent
    .command("add")
    .description("Print a kubeconfig with a certificate for a user")
    .argument("<NAME>", "the user's name");
  declareOptions(add, usersAddOptions).action((name: string) => addOne(add, name));
  const list = parent.command("list").description("The users that were added");
  declareOptions(list, usersListOptions).action(() => {
    const settings = readSettings(list, usersListOptions);
    const output = outputFrom(settings, ["text"]);
    return withPlane(settings, async (plane) => {
      const users = await listUsers(plane);
      const rows = users.map(({ user, groups, roles, namespace, until }) => [
        user,
        groups.join(",") || "-",
        roles.join(",") || "-",
        namespace || "-",
        until,
      ]);
      show(
        output,
        () =>
          rows.length === 0
            ? ["no users were added"]
            : columns(["USER", "GROUPS", "ROLES", "NAMESPACE", "UNTIL"], rows),
        () => ({ users }),
      );
    });
  });
}

async function addOne(command: Command, name: string): Promise<void> {
  const settings = readSettings(command, usersAddOptions);
  const groups = listOf(settings.text("group"));
  checkUser(name, groups);
  const { request, key } = makeCertificateRequest({ commonName: name, organizations: groups });
  await withPlane(settings, async (plane) => {
    const certificate = await addUser({ clock: createRealClock(), readCertificate }, plane, {
      name,
      groups,
      roles: listOf(settings.text("role")),
      namespace: settings.text("namespace"),
      lifeMs: settings.number("ttl"),
      request,
      requestId: createHash("sha256").update(request).digest("hex").slice(0, 16),
      timeoutMs: 30_000,
    });
    const text = await kubeconfigFor(settings, { certificate, key });
    const file = settings.text("output");
    if (file === undefined) process.stdout.write(text);
    else {
      await writeFile(file, text, { mode: 0o600 });
      tell(`the kubeconfig of ${name} is ${file}`, "");
    }
  });
}

/** Users of the system are the control plane's own: no certificate of a person names one. */
export function checkUser(name: string, groups: readonly string[]): void {
  if (name === "" || name.length > 64) throw new UsageError("a user's name has 1 to 64 characters");
  for (const text of [name, ...groups]) {
    if (/[\p{Cc}\p{Cf}]/u.test(text))
      throw new UsageError("names of users and groups have no control characters");
    if (text.startsWith("system:"))
      throw new UsageError(
        `"${text}" is of the system; to make an administrator, bind a role: --role cluster-admin`,
      );
  }
}

function listOf(text: string | undefined): readonly string[] {
  return (text ?? "")
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}
