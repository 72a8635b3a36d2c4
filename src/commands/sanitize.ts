import type { Invocation, Outcome } from '../cli/command.ts';
import { planSanitize, type SanitizeRequest, sanitize } from '../operations/sanitize/sanitize.ts';
import { suggest } from '../operations/sanitize/suggest.ts';
import { sanitizedText, sanitizePlanLines, sanitizeQuestion } from '../report/sanitize.ts';
import { createStyle } from '../report/style.ts';
import { toSelector } from './selector.ts';

interface Arguments {
  target: string;
  snapshot?: string;
}

interface Options {
  new?: boolean;
  ephemeral?: boolean;
  strict?: boolean;
  suggest?: boolean;
  allowSuperuser?: boolean;
  dryRun?: boolean;
  undo: boolean;
  push: boolean;
  cpus?: number;
  unverifiedSources?: boolean;
  allowUntrusted?: boolean;
}

export async function run(invocation: Invocation<Arguments, Options>): Promise<Outcome> {
  const { terminal, options, confirm } = invocation;
  const context = await invocation.context();
  const request = toRequest(invocation);
  if (options.suggest) {
    const suggestion = await suggest(context, request);
    return { data: suggestion, text: suggestion.query };
  }
  const planned = await planSanitize(context, request);
  const { plan } = planned;
  if (options.dryRun) return { data: { dry_run: true, plan }, text: sanitizePlanLines(plan).join('\n') };
  const question = sanitizeQuestion(plan);
  if (question) await confirm(question);
  const result = await sanitize(context, planned);
  const style = createStyle({ color: terminal.stdout.color, unicode: terminal.unicode });
  return { data: result, text: sanitizedText(result, plan.target, { columns: terminal.stdout.columns(), style }) };
}

function toRequest({ arguments: { target, snapshot }, options }: Invocation<Arguments, Options>): SanitizeRequest {
  const { ephemeral, strict, allowSuperuser, undo, push, cpus, unverifiedSources, allowUntrusted } = options;
  return {
    target,
    ...(snapshot !== undefined && { snapshot: toSelector(snapshot) }),
    ...(options.new && { build: {} }),
    ...(ephemeral && { ephemeral }),
    ...(strict && { strict }),
    ...(allowSuperuser && { allowSuperuser }),
    ...(unverifiedSources && { unverifiedSources }),
    ...(cpus !== undefined && { cpus }),
    ...(allowUntrusted && { allowUntrusted }),
    undo,
    push,
  };
}
