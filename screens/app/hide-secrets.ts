import type { Context } from '../../src/runtime/context.ts';
import { UserError } from '../../src/runtime/errors.ts';
import type { RunContext } from '../../src/state/runs.ts';
import { mapTexts } from '../../src/text/map-texts.ts';

type Hide = (text: string) => string;

/** Performs an operation, and hides known secrets in its events and errors, whatever server or tool has written them. */
export function withoutSecrets<Result>(
  session: RunContext,
  open: (session: RunContext) => Context | Promise<Context>,
  perform: (context: Context) => Result | Promise<Result>,
): Promise<Result> {
  return hiding(session, async (given, know) => {
    const context = await open(given);
    if (context.hide) know(context.hide);
    return perform(context);
  });
}

/** The same before there is a configuration, of the passwords in URLs. */
export function withoutPasswords<Result>(
  session: RunContext,
  urls: string[],
  perform: (session: RunContext) => Result | Promise<Result>,
): Promise<Result> {
  return hiding(session, async (given, know) => {
    const { passwordHider } = await import('../../src/config/secrets/secret-values.ts');
    know(passwordHider(urls));
    return perform(given);
  });
}

async function hiding<Result>(
  session: RunContext,
  perform: (session: RunContext, know: (hide: Hide) => void) => Promise<Result>,
): Promise<Result> {
  let hide: Hide = (text) => text;
  const report: RunContext['report'] = (event) => session.report(mapTexts(event, hide));
  const know = (known: Hide): void => {
    hide = known;
  };
  try {
    return await perform({ ...session, report }, know);
  } catch (thrown) {
    throw hideError(thrown, { hide, signal: session.signal });
  }
}

/** An abort goes as it is, and so does an error of a class of its own, which is about the configuration. */
function hideError(thrown: unknown, { hide, signal }: { hide: Hide; signal: AbortSignal }): unknown {
  if (!(thrown instanceof Error)) return thrown;
  if (!(thrown instanceof UserError)) {
    thrown.message = hide(thrown.message);
    return thrown;
  }
  if (thrown.constructor !== UserError || thrown === signal.reason) return thrown;
  const { code, exit, hint, details, cause } = thrown;
  const shown = mapTexts({ message: thrown.message, details, ...(hint !== undefined && { hint }) }, hide);
  return new UserError(code, shown.message, { ...shown, exit, cause });
}
