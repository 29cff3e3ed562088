/**
 * Completion scripts, made from the commands themselves: verbs, flags and, where a verb takes one, names of clusters. Pure.
 *
 * The bash script serves zsh too, through zsh's own `bashcompinit`.
 */
import type { Command } from "commander";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** One command or subcommand, by the words that lead to it. */
export interface CompletedCommand {
  readonly words: readonly string[];
  readonly description: string;
  readonly verbs: readonly { readonly name: string; readonly description: string }[];
  readonly flags: readonly CompletedFlag[];
  /** Its arguments are names of clusters. */
  readonly takesClusters: boolean;
}

export interface CompletedFlag {
  /** `--data-dir`. */
  readonly long: string;
  readonly takesValue: boolean;
  readonly description: string;
}

/** Every command of the program, the program itself first. */
export function completedCommands(
  program: Command,
  words: readonly string[] = [],
): readonly CompletedCommand[] {
  const { commands } = program;
  const flags = program.options
    .filter(({ hidden, long }) => !hidden && long !== undefined)
    .map(({ long, description, required, optional }) => ({
      long: String(long),
      takesValue: required || optional,
      description: firstSentence(description),
    }));
  const one: CompletedCommand = {
    words,
    description: program.description(),
    verbs: commands.map((command) => ({
      name: command.name(),
      description: firstSentence(command.description()),
    })),
    flags: [...flags, { long: "--help", takesValue: false, description: "Print help" }],
    takesClusters: program.registeredArguments.some(
      (argument) => argument.name() !== "KIND" && /\bcluster/.test(argument.description),
    ),
  };
  return [
    one,
    ...commands.flatMap((command) => completedCommands(command, [...words, command.name()])),
  ];
}

/** Help tells more: a completion has one line. */
function firstSentence(text: string): string {
  return (text.split(/[;[(\n]/)[0] ?? "").trim();
}

export function completionScript(shell: Shell, commands: readonly CompletedCommand[]): string {
  if (shell === "fish") return fishScript(commands);
  const bash = bashScript(commands);
  return shell === "bash"
    ? bash
    : `#compdef lifeboat\nautoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${bash}`;
}

/** The command's own words are what tells where the cursor is; words that belong to flags are passed over. */
function bashScript(commands: readonly CompletedCommand[]): string {
  const paths = commands.map(({ words }) => words.join(" ")).join("|");
  const all = commands.flatMap(({ flags }) => flags);
  const valued = [...new Set(all.filter(({ takesValue }) => takesValue).map(({ long }) => long))];
  const cases = commands.map(
    ({ words, verbs, flags, takesClusters }) =>
      `    "${words.join(" ")}") verbs="${verbs.map(({ name }) => name).join(" ")}"; ` +
      `flags="${flags.map(({ long }) => long).join(" ")}"; clusters=${takesClusters ? "1" : ""} ;;`,
  );
  return `# Completion of lifeboat for bash: source <(lifeboat completion bash)
_lifeboat() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local path="" word next i skip="" verbs="" flags="" clusters=""
  local known="|${paths}|"
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [ -n "$skip" ]; then skip=""; continue; fi
    case "$word" in
      ${valued.length === 0 ? "--none" : valued.join("|")}) skip=1; continue ;;
      -*|=) continue ;;
    esac
    if [ -z "$path" ]; then next="$word"; else next="$path $word"; fi
    case "$known" in *"|$next|"*) path="$next" ;; esac
  done
  if [ -n "$skip" ]; then
    COMPREPLY=($(compgen -f -- "$current"))
    return
  fi
  case "$path" in
${cases.join("\n")}
  esac
  if [ "\${current#-}" != "$current" ]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif [ -n "$clusters" ]; then
    COMPREPLY=($(compgen -W "$(lifeboat get clusters -o name 2>/dev/null | sed 's|.*/||')" -- "$current"))
  elif [ -n "$verbs" ]; then
    COMPREPLY=($(compgen -W "$verbs" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -F _lifeboat lifeboat
`;
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap((one) => {
    const condition = `-n '__lifeboat_at ${one.words.join(" ")}'`;
    const verbs = one.verbs.map(
      ({ name, description }) =>
        `complete -c lifeboat -f ${condition} -a ${name} -d ${quoted(description)}`,
    );
    const flags = one.flags.map(
      ({ long, takesValue, description }) =>
        `complete -c lifeboat ${condition} -l ${long.slice(2)}${takesValue ? " -r" : ""} -d ${quoted(description)}`,
    );
    const clusters = one.takesClusters
      ? [`complete -c lifeboat -f ${condition} -a '(__lifeboat_clusters)'`]
      : [];
    return [...verbs, ...flags, ...clusters];
  });
  const paths = commands.map(({ words }) => quoted(words.join(" "))).join(" ");
  return `# Completion of lifeboat for fish: lifeboat completion fish | source
function __lifeboat_clusters
  lifeboat get clusters -o name 2>/dev/null | string replace -r '.*/' ''
end
function __lifeboat_at
  set -l path
  for word in (commandline -opc)[2..-1]
    string match -q -- '-*' $word; and continue
    contains -- (string join ' ' $path $word) ${paths}; and set -a path $word
  end
  test (string join ' ' $path) = (string join ' ' $argv)
end
${lines.join("\n")}
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
