import type { Context } from '../runtime/context.ts';
import { UserError } from '../runtime/errors.ts';
import { nearest } from '../text/nearest.ts';
import type { ArgumentSpec, CommandSpec, Globals } from './command.ts';
import type { CommandHost } from './host.ts';
import { pick } from './pick.ts';
import { PICK, snapshotItems, targetItems } from './pick-text.ts';

interface CommandWords {
  spec: CommandSpec;
  arguments: Record<string, unknown>;
  globals: Globals;
  /** The error of a line without all required arguments. */
  lacking?: UserError;
}

interface Completion {
  host: CommandHost;
  context: Context;
}

export function needsTarget({ spec }: Pick<CommandWords, 'spec'>): boolean {
  return spec.arguments.some(isRequiredTarget);
}

/**
 * Completes the arguments: the only target of a configuration is meant where the line names none, and a person chooses
 * other targets and snapshots from a list. Returns whether the target is another one now.
 */
export async function completeArguments(line: CommandWords, { host, context }: Completion): Promise<boolean> {
  const { spec, globals, arguments: given, lacking } = line;
  const before = targetOf(line);
  const { settings, cloud } = context.configuration;
  // A hub may know others.
  const targets = cloud ? [] : Object.keys(settings.targets);
  line.arguments = withOnlyTarget(line, { targets, words: host.words }) ?? given;
  const missing = spec.arguments.filter((one) => one.required && !hasWords(line.arguments[one.name]));
  const [first] = missing;
  if (lacking && first) {
    if (!canPick(globals, host) || !missing.every(isPickable)) {
      const { code, hint } = lacking;
      throw new UserError(code, `Missing required argument '${first.name}'`, { hint });
    }
    await pickMissing(line, missing, { host, context });
  }
  return before !== targetOf(line);
}

/** `load 1` is `load shop 1`. A word that resembles the target's name is a mistake. */
function withOnlyTarget(
  { spec, arguments: given }: CommandWords,
  { targets, words: line }: { targets: string[]; words: string[] },
): Record<string, unknown> | null {
  const [only, ...others] = targets;
  const [target, ...rest] = spec.arguments;
  if (!target || !isRequiredTarget(target) || only === undefined || others.length > 0) return null;
  const named = given[target.name];
  if (named === only || named === '' || (typeof named === 'string' && nearest(named, [only]) !== null)) return null;
  // `branch drop a b` would drop two branches instead of one.
  if (rest.some(({ name, required, variadic }) => required && variadic && hasWords(given[name]))) return null;
  // `rehearse prod` would run a program of this name: one is after --.
  const [next] = rest;
  const isAfterDashes = line.includes('--') && line[line.indexOf('--') + 1] === named;
  if (next?.variadic && !next.required && named !== undefined && !isAfterDashes) return null;
  const words = spec.arguments.flatMap(({ name }) => given[name] ?? []);
  const shifted = rest.map(({ name, variadic }) => [name, variadic ? words.splice(0) : words.shift()] as const);
  if (words.length > 0) return null;
  return Object.fromEntries([[target.name, only] as const, ...shifted].filter(([, value]) => hasWords(value)));
}

function hasWords(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined;
}

function isRequiredTarget({ complete, required }: ArgumentSpec): boolean {
  return complete === 'target' && required;
}

/** Reports whether a person can choose: never for a script, in CI, with `--json`, `--no-tui` or `--yes`. */
function canPick({ json, tui, yes }: Globals, { terminal, environment }: CommandHost): boolean {
  const attended = terminal.canAsk || terminal.noScreens === null;
  return attended && !terminal.ci && environment.TERM !== 'dumb' && !json && tui && !yes;
}

/** Reports whether a list can be offered for the argument. */
function isPickable({ complete, variadic = false }: ArgumentSpec): boolean {
  return !variadic && (complete === 'target' || complete === 'snapshot');
}

/** Offers a list for each target and snapshot that was not named. */
async function pickMissing(line: CommandWords, missing: ArgumentSpec[], { host, context }: Completion): Promise<void> {
  const { stdin: input, stdout, stderr, terminal, signal } = host;
  const output = terminal.stderr.isTerminal ? stderr : stdout;
  const { columns } = terminal.stderr.isTerminal ? terminal.stderr : terminal.stdout;
  for (const { name, complete } of missing) {
    const kind = complete === 'target' ? 'target' : 'snapshot';
    const items = kind === 'target' ? await targets(context) : await snapshots(context, String(targetOf(line)));
    if (items.length === 0) throw nothingToPick(kind);
    const picked = await pick({ prompt: PICK[kind], items, input, output, columns, unicode: terminal.unicode, signal });
    if (picked === null) throw cancelled();
    line.arguments[name] = picked;
    output.write(`${PICK[kind]} ${picked}\n`);
  }
}

async function targets(context: Context) {
  const { listTargets } = await import('../operations/targets/targets.ts');
  return targetItems(await listTargets(context));
}

async function snapshots(context: Context, target: string) {
  const { listSnapshots } = await import('../operations/snapshots/snapshots.ts');
  const listed = await listSnapshots(context, target);
  return snapshotItems(listed.snapshots, context.clock().getTime());
}

function targetOf({ spec, arguments: given }: CommandWords): unknown {
  const argument = spec.arguments.find(({ complete }) => complete === 'target');
  return argument && given[argument.name];
}

function nothingToPick(kind: 'target' | 'snapshot'): UserError {
  return new UserError('missing_argument', `There is no ${kind} to choose from`, {
    hint: kind === 'target' ? 'Add one to the configuration: tool config init' : 'Build one: tool build TARGET',
  });
}

function cancelled(): UserError {
  return new UserError('interrupted', 'Cancelled. Nothing was changed.');
}
