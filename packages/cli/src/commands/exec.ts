/** `lifeboat exec POD -C CLUSTER -- COMMAND…`: a command in a container of a member, through the control plane's proxy. */
import { pods, resourcePath } from "@lifeboat/api";
import { CHANNEL_PROTOCOL, type CommandEnd } from "@lifeboat/kit/streams";
import type { Command } from "commander";
import { type ExecSession, runExecSession } from "../exec-session.ts";
import { CommandFailed, UsageError } from "../failure.ts";
import { findPlane, inWords, planeOptions } from "../find-plane.ts";
import { createMemberApi } from "../member-api.ts";
import type { OptionDefinition } from "../options.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { stopOnSignal } from "../stopping.ts";
import { podOptions } from "./logs.ts";

export const execOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  ...podOptions,
  { name: "stdin", short: "i", type: "switch", help: "Pass standard input to the command" },
  { name: "tty", short: "t", type: "switch", help: "Give the command a terminal; needs --stdin" },
];

export function addExec(program: Command): void {
  const command = program
    .command("exec")
    .description("Run a command in a pod of a member cluster")
    .argument("<POD>", "the pod")
    .argument("<COMMAND...>", "the command and its arguments, after --");
  declareOptions(command, execOptions).action(async (pod: string, words: readonly string[]) => {
    await inWords(() => exec(pod, words, readSettings(command, execOptions)));
  });
}

async function exec(pod: string, words: readonly string[], settings: Settings): Promise<void> {
  const cluster = settings.requiredText("clusters");
  if (cluster.includes(",")) throw new UsageError("--clusters: a command runs in one cluster");
  const hasTty = settings.isOn("tty");
  if (hasTty && !settings.isOn("stdin")) throw new UsageError("--tty needs --stdin");
  if (hasTty && !process.stdin.isTTY)
    throw new UsageError("--tty: standard input is no terminal here");
  const plane = await findPlane(settings);
  const api = createMemberApi(plane.http);
  const stopping = stopOnSignal({});
  try {
    const target = execTarget(pod, words, settings);
    const connection = await api.upgrade(cluster, target, CHANNEL_PROTOCOL, stopping.signal);
    stopping.signal.addEventListener("abort", () => connection.destroy(), { once: true });
    const session = runExecSession(connection, {
      input: settings.isOn("stdin") ? process.stdin : undefined,
      output: process.stdout,
      errors: process.stderr,
    });
    report(await (hasTty ? inRawMode(session) : session.ended));
  } catch (error) {
    // A script must not take it for done.
    if (stopping.signal.aborted)
      throw new CommandFailed("interrupted: how the command in the pod ended is not known");
    if (error instanceof Error && error.message.startsWith("the session broke off"))
      throw new CommandFailed(error.message);
    throw error;
  } finally {
    process.stdin.destroy();
    stopping.release();
    api.close();
    plane.close();
  }
}

/** The command's exit code becomes that of this process. */
function report(end: CommandEnd): void {
  if (end.kind === "failed") throw new CommandFailed(end.message);
  process.exitCode = end.code;
}

/** Every key goes to the command while it runs, Ctrl-C included. */
async function inRawMode(session: ExecSession): Promise<CommandEnd> {
  const { stdin, stdout } = process;
  const tell = (): void => session.resize(stdout.columns, stdout.rows);
  stdin.setRawMode(true);
  stdout.on("resize", tell);
  tell();
  try {
    return await session.ended;
  } finally {
    stdout.off("resize", tell);
    stdin.setRawMode(false);
  }
}

/** The path and query of a command. */
export function execTarget(
  pod: string,
  words: readonly string[],
  settings: Pick<Settings, "text" | "isOn">,
): string {
  const query = new URLSearchParams();
  for (const word of words) query.append("command", word);
  const container = settings.text("container");
  if (container !== undefined) query.set("container", container);
  const hasTty = settings.isOn("tty");
  query.set("stdout", "true");
  if (!hasTty) query.set("stderr", "true");
  if (settings.isOn("stdin")) query.set("stdin", "true");
  if (hasTty) query.set("tty", "true");
  const path = resourcePath(pods, settings.text("namespace") ?? "default", pod, "exec");
  return `${path}?${query.toString()}`;
}
