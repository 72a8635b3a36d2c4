import { formatAge, formatNumberOf } from '../amounts.ts';
import type { Invocation, Outcome } from '../cli/command.ts';
import { type Candidate, complete, configOf } from '../cli/completion.ts';
import { sensitiveKeys } from '../operations/configuration/secrets.ts';
import { listTables } from '../operations/snapshots/snapshot-tables.ts';
import { listSnapshots } from '../operations/snapshots/snapshots.ts';
import { listTargets } from '../operations/targets.ts';
import { printable } from '../printable.ts';
import { toSelector } from './selector.ts';

interface Arguments {
  words?: string[];
}

export async function run(invocation: Invocation<Arguments>): Promise<Outcome> {
  const { words = [] } = invocation.arguments;
  const context = () => invocation.context(configOf(words));
  const candidates = await complete(words, {
    grammar: invocation.grammar,
    targets: () => orNone(() => targetCandidates(context)),
    sensitiveKeys: () => orNone(() => keyCandidates(invocation)),
    tables: (target, snapshot) => orNone(() => tableCandidates(context, { target, snapshot })),
    snapshots: (target) => orNone(() => snapshotCandidates(context, target)),
  });
  return {
    data: { candidates },
    // A name that cannot be typed is not offered.
    text: candidates
      .filter(({ value }) => printable(value) === value)
      .map(({ value, description }) => `${value}\t${printable(description)}`)
      .join('\n'),
  };
}

async function targetCandidates(context: Invocation['context']): Promise<Candidate[]> {
  const targets = await listTargets(await context());
  return targets.map(({ name, title }) => ({ value: name, description: title }));
}

/** A shell waits for as long while its user does nothing. */
const PATIENCE = 1500;

/** Of the file alone: nobody's keychain is asked in the middle of a line. */
async function keyCandidates({ arguments: { words = [] }, environment, cwd }: Invocation<Arguments>) {
  const keys = await sensitiveKeys({ file: configOf(words), environment, cwd });
  return keys.map((value) => ({ value, description: '' }));
}

async function snapshotCandidates(context: Invocation['context'], target: string): Promise<Candidate[]> {
  const opened = await context();
  const now = opened.clock().getTime();
  const { snapshots } = await listSnapshots(opened, target, { patience: PATIENCE });
  return snapshots.map(({ index, created_at, note }) => {
    const age = formatAge(now - Date.parse(created_at));
    return { value: String(index), description: note ? `${age}: ${note}` : age };
  });
}

async function tableCandidates(
  context: Invocation['context'],
  { target, snapshot }: { target: string; snapshot: string | undefined },
): Promise<Candidate[]> {
  const request = { target, ...(snapshot !== undefined && { snapshot: toSelector(snapshot) }) };
  const tables = await listTables(await context(), request);
  return tables.map(({ table, rows }) => ({ value: table, description: formatNumberOf(rows, 'row') }));
}

/** A person in the middle of a line must not be answered with an error. */
async function orNone(find: () => Promise<Candidate[]>): Promise<Candidate[]> {
  try {
    return await find();
  } catch {
    return [];
  }
}
