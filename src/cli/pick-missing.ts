import type { Context } from '../runtime/context.ts';
import { UserError } from '../runtime/errors.ts';
import type { ArgumentSpec, CommandSpec, Globals } from './command.ts';
import type { CommandHost } from './host.ts';
import { pick } from './pick.ts';
import { PICK, snapshotItems, targetItems } from './pick-text.ts';

/** Reports whether a person can choose: never for a script, in CI, with `--json`, `--no-tui` or `--yes`. */
export function canPick({ json, tui, yes }: Globals, { terminal, environment }: CommandHost): boolean {
  const attended = terminal.canAsk || terminal.noScreens === null;
  return attended && !terminal.ci && environment.TERM !== 'dumb' && !json && tui && !yes;
}

/** Reports whether a list can be offered for the argument. */
export function isPickable({ complete, variadic = false }: ArgumentSpec): boolean {
  return !variadic && (complete === 'target' || complete === 'snapshot');
}

interface IncompleteCommand {
  spec: CommandSpec;
  arguments: Record<string, unknown>;
}

export function missingArguments({ spec, arguments: given }: IncompleteCommand): ArgumentSpec[] {
  return spec.arguments.filter((one) => one.required && isPickable(one) && given[one.name] === undefined);
}

/** Offers a list for each required target and snapshot that was not named, and completes the arguments. */
export async function pickMissing(
  line: IncompleteCommand,
  { host, context }: { host: CommandHost; context: Context },
): Promise<void> {
  const { stdin: input, stdout, stderr, terminal, signal } = host;
  const output = terminal.stderr.isTerminal ? stderr : stdout;
  const { columns } = terminal.stderr.isTerminal ? terminal.stderr : terminal.stdout;
  for (const { name, complete } of missingArguments(line)) {
    const kind = complete === 'target' ? 'target' : 'snapshot';
    const items = kind === 'target' ? await targets(context) : await snapshots(context, targetOf(line));
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

function targetOf({ spec, arguments: given }: IncompleteCommand): string {
  const argument = spec.arguments.find(({ complete }) => complete === 'target');
  return String(argument && given[argument.name]);
}

function nothingToPick(kind: 'target' | 'snapshot'): UserError {
  return new UserError('missing_argument', `There is no ${kind} to choose from`, {
    hint: kind === 'target' ? 'Add one to the configuration: tool config init' : 'Build one: tool build TARGET',
  });
}

function cancelled(): UserError {
  return new UserError('interrupted', 'Cancelled. Nothing was changed.');
}
