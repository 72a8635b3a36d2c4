import type { Invocation, Outcome } from '../cli/command.ts';
import { build } from '../operations/build.ts';
import { hasSanitizeQuery, planSanitize, sanitize } from '../operations/sanitize/sanitize.ts';
import { sanitizedText, sanitizeQuestion } from '../report/sanitize.ts';
import { hiddenLines, leftOutLines, snapshotLine } from '../report/snapshots.ts';
import { createStyle } from '../report/style.ts';
import type { SnapshotRow } from '../results.ts';

interface Arguments {
  target: string;
}

interface Options {
  note?: string;
  program?: boolean;
  sanitize: boolean;
  push: boolean;
  allowSuperuser?: boolean;
  cpus?: number;
  unverifiedSources?: boolean;
  includeNeededSchemas?: boolean;
}

export async function run(invocation: Invocation<Arguments, Options>): Promise<Outcome> {
  const { target } = invocation.arguments;
  const {
    sanitize: wanted,
    push,
    note,
    program,
    cpus,
    allowSuperuser,
    unverifiedSources,
    includeNeededSchemas,
  } = invocation.options;
  const context = await invocation.context();
  const parallel = cpus === undefined ? {} : { cpus };
  const asked = {
    ...(note !== undefined && { note }),
    ...(program && { program }),
    ...(includeNeededSchemas && { includeNeededSchemas }),
  };
  if (wanted && hasSanitizeQuery(context, target)) {
    return buildAndSanitize(invocation, {
      ...{ target, build: asked, push, ...parallel },
      ...(allowSuperuser && { allowSuperuser }),
      ...(unverifiedSources && { unverifiedSources }),
    });
  }
  const snapshot = await build(context, { target, push, ...asked, ...parallel });
  return { data: { snapshot }, text: builtText(target, snapshot) };
}

/** Asks before anything is built: the sanitized database may replace one. */
async function buildAndSanitize(
  { context: openContext, confirm, terminal }: Invocation<Arguments, Options>,
  request: Parameters<typeof planSanitize>[1],
): Promise<Outcome> {
  const context = await openContext();
  const planned = await planSanitize(context, request);
  const question = sanitizeQuestion(planned.plan);
  if (question) await confirm(question);
  const { snapshot: sanitized, original: snapshot, ...result } = await sanitize(context, planned);
  const style = createStyle({ color: terminal.stdout.color, unicode: terminal.unicode });
  const options = { columns: terminal.stdout.columns(), style };
  const text = sanitizedText({ snapshot: sanitized, original: snapshot, ...result }, request.target, options);
  return {
    data: { snapshot, sanitized, ...result },
    text: `${builtText(request.target, snapshot)}\n${text}`,
  };
}

function builtText(target: string, snapshot: SnapshotRow): string {
  return [`Built ${snapshotLine(target, snapshot)}`, ...leftOutLines([snapshot]), ...hiddenLines([snapshot])].join(
    '\n',
  );
}
