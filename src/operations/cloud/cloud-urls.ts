import { passwordHider } from '../../config/secrets/secret-values.ts';
import type { Context } from '../../runtime/context.ts';
import { EXIT, toUserError } from '../../runtime/errors.ts';
import { mapTexts } from '../../text/map-texts.ts';
import { openCloud } from './open-cloud.ts';
import { cloudSettings, targetIn, urlsOf, withUrls } from './target-settings.ts';

/** Adds the URLs of a cloud target with their passwords to the configuration; the hub audits the request. */
export async function fetchCloudUrls(
  context: Context,
  name: string,
  { required }: { required: boolean },
): Promise<Context> {
  const { configuration } = context;
  const target = configuration.cloud?.get(name);
  if (!target || configuration.cloudUrls === name) return context;
  const isBuilder = target.permissions.includes('read_source');
  if (!required && !isBuilder) return context;
  const urls = await fetchUrls(context, { name, required }).catch((thrown) => {
    context.signal.throwIfAborted();
    const error = toUserError(thrown);
    if (required || error.exit !== EXIT.unreachable) throw thrown;
    context.report({ event: 'warning', code: error.code, message: error.message });
    return null;
  });
  if (urls === null) return context;
  const whole = cloudSettings([withUrls(target, urls)], context.environment);
  const settings = { ...configuration.settings, targets: { ...configuration.settings.targets, ...whole.targets } };
  const others = configuration.deferred.filter(({ key }) => targetIn(key) !== name);
  const deferred = [...others, ...whole.deferred];
  const blanks = new Map([...(configuration.blanks ?? []), ...whole.blanks]);
  const hidePasswords = passwordHider(urlsOf(whole.targets, name));
  const { hide = (text: string) => text } = context;
  return {
    ...context,
    configuration: { ...configuration, settings, deferred, blanks, cloudUrls: name },
    hide: (text) => hidePasswords(hide(text)),
    report: (event) => context.report(mapTexts(event, hidePasswords)),
  };
}

async function fetchUrls(
  context: Context,
  { name, required }: { name: string; required: boolean },
): Promise<Record<string, string>> {
  const client = await openCloud(context, { impatient: !required });
  const { body } = await client.call('getTargetSecrets', { parameters: { name } });
  return body?.urls ?? {};
}
