import { defineCommand, type Invocation } from '../cli/command.ts';
import type { Candidate } from '../cli/completion/completion.ts';
import { formatAge, formatNumberOf } from '../text/format.ts';
import { printable } from '../text/printable.ts';
import { toSelector } from '../text/snapshot-selector.ts';

export const completionCommand = defineCommand({
  name: 'completion',
  summary: 'print the completion script of a shell',
  group: 'Set up',
  arguments: [{ name: 'shell', description: 'the shell', required: true, choices: ['bash', 'zsh', 'fish'] }],
  examples: [{ command: 'source <(tool completion bash)', does: 'enable completion in this shell' }],
  json: 'document',
  async run({ arguments: { shell } }) {
    const { COMPLETION_SCRIPTS } = await import('../cli/completion/completion-scripts.ts');
    const script = COMPLETION_SCRIPTS[shell] ?? '';
    return { data: { shell, script }, text: script };
  },
});

export const completeCommand = defineCommand({
  name: '__complete',
  summary: 'what may follow a command line; called by the completion scripts',
  group: 'Set up',
  arguments: [{ name: 'words', description: 'words of the command line', required: false, variadic: true }],
  examples: [],
  json: 'document',
  hidden: true,
  async run(invocation) {
    const { complete, configOf } = await import('../cli/completion/completion.ts');
    const { words = [] } = invocation.arguments;
    const file = configOf(words);
    const context = () => invocation.context(file);
    const candidates = await complete(words, {
      grammar: invocation.grammar,
      targets: () => orNone(() => targetCandidates(context)),
      sensitiveKeys: () => orNone(() => keyCandidates(file, invocation)),
      providers: () => orNone(() => providerCandidates(context)),
      tables: (target, snapshot) => orNone(() => tableCandidates(context, { target, snapshot })),
      saves: (target) => orNone(() => saveCandidates(context, target)),
      snapshots: (target) => orNone(() => snapshotCandidates(context, target)),
    });
    return {
      data: { candidates },
      // Names that cannot be typed are left out.
      text: candidates
        .filter(({ value }) => printable(value) === value)
        .map(({ value, description }) => `${value}\t${printable(description)}`)
        .join('\n'),
    };
  },
});

async function targetCandidates(context: Invocation['context']): Promise<Candidate[]> {
  const { listTargets } = await import('../operations/targets/targets.ts');
  const targets = await listTargets(await context());
  return targets.map(({ name, title }) => ({ value: name, description: title }));
}

async function providerCandidates(context: Invocation['context']): Promise<Candidate[]> {
  const { listProviders } = await import('../operations/sign-in/find-provider.ts');
  return listProviders(await context()).map(({ name, provider_url }) => ({ value: name, description: provider_url }));
}

/** The shell blocks its user meanwhile. */
const TIMEOUT_MS = 1500;

/** From the file only: completion must not open a keychain prompt. */
async function keyCandidates(file: string | undefined, { environment, cwd }: Invocation) {
  const { sensitiveKeys } = await import('../operations/configuration/secrets.ts');
  const keys = await sensitiveKeys({ file, environment, cwd });
  return keys.map((value) => ({ value, description: '' }));
}

async function snapshotCandidates(context: Invocation['context'], target: string): Promise<Candidate[]> {
  const { listSnapshots } = await import('../operations/snapshots/snapshots.ts');
  const opened = await context();
  const now = opened.clock().getTime();
  const { snapshots } = await listSnapshots(opened, target, { timeoutMs: TIMEOUT_MS });
  return [
    ...snapshots.map(({ index, created_at, note }) => {
      const age = formatAge(now - Date.parse(created_at));
      return { value: String(index), description: note ? `${age}: ${note}` : age };
    }),
    ...snapshots.flatMap(({ git }) => (git?.branch ? [{ value: `@${git.branch}`, description: 'git branch' }] : [])),
    ...snapshots.flatMap(({ tags = [] }) => tags.map((tag) => ({ value: `#${tag}`, description: 'tag' }))),
  ];
}

async function saveCandidates(context: Invocation['context'], target: string): Promise<Candidate[]> {
  const { listSaves } = await import('../operations/save/saves.ts');
  const opened = await context();
  const now = opened.clock().getTime();
  return (await listSaves(opened, { target })).map(({ row: { name, created_at, note } }) => {
    const age = formatAge(now - Date.parse(created_at));
    return { value: name, description: note ? `${age}: ${note}` : age };
  });
}

async function tableCandidates(
  context: Invocation['context'],
  { target, snapshot }: { target: string; snapshot: string | undefined },
): Promise<Candidate[]> {
  const { listTables } = await import('../operations/snapshots/snapshot-tables.ts');
  const request = { target, ...(snapshot !== undefined && { snapshot: toSelector(snapshot) }) };
  const tables = await listTables(await context(), request);
  return tables.map(({ table, rows }) => ({ value: table, description: formatNumberOf(rows, 'row') }));
}

/** Completion never prints an error. */
async function orNone(find: () => Promise<Candidate[]>): Promise<Candidate[]> {
  try {
    return await find();
  } catch {
    return [];
  }
}
