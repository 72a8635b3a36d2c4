import * as v from 'valibot';
import { type CloudTarget, targetSettingsSchema } from '../../cloud/contract/resources.ts';
import { URL_KEYS } from '../../cloud/contract/url-password.ts';
import type { Configuration } from '../../config/configuration.ts';
import { removeUnknownKeys } from '../../config/keys/remove-unknown-keys.ts';
import type { KeyProblem } from '../../config/problems/key-problem.ts';
import { type Settings, settingsSchema, type TargetSettings } from '../../config/schema/settings.ts';
import { type Shape, shapeOf } from '../../config/schema/shape.ts';
import { dotted, isTree, type Tree, valueAt } from '../../config/tree.ts';
import { fillUrls } from '../../config/urls/fill-urls.ts';
import { TemplateError, type Variables, variablesOf } from '../../config/urls/template.ts';
import { urlParts } from '../../config/urls/url-parts.ts';
import type { Problem } from '../../results/configuration/configuration-results.ts';

/** Variables that a compromised hub must not send to a server of its choice. */
const KEPT_VARIABLES = /^(TOOL|AWS|ACTIONS|GITHUB)_/i;

export type CloudSettings = Pick<Configuration, 'deferred'> & {
  targets: Settings['targets'];
  blanks: Map<string, string>;
};

/**
 * Targets that the caller may build have their settings without storage profiles and groups, which the hub applies;
 * other targets have their name only. Templates in URLs are filled in from the environment.
 */
export function cloudSettings(targets: CloudTarget[], environment: NodeJS.ProcessEnv): CloudSettings {
  const shape = shapeOf(targetSettingsSchema);
  const settings = targets.map((target) => [target.name, settingsOf(target, shape)] as const);
  const tree = { targets: Object.fromEntries(settings) };
  const { problems, blanks } = fillUrls(tree, { shape: shapeOf(settingsSchema), variables: permitted(environment) });
  const place = { file: null, line: null, column: null };
  problems.push(...settings.flatMap(([name, target]) => withoutTunnels(name, target)));
  const deferred = problems.map(
    ({ path, code, message, hint }): Problem => ({
      ...{ severity: 'error', code, key: dotted(path), hint: hint ?? null, ...place },
      message: typeof message === 'string' ? message : message.says,
    }),
  );
  return { targets: tree.targets, deferred, blanks };
}

/** Removes URLs with a tunnel: the hub must not choose where this machine logs in with the user's keys. */
function withoutTunnels(name: string, target: TargetSettings): KeyProblem[] {
  return URL_KEYS.flatMap((key): KeyProblem[] => {
    const [part = '', field = ''] = key.split('.');
    const section = valueAt(target as Tree, [part]);
    const url = isTree(section) ? section[field] : undefined;
    if (!isTree(section) || typeof url !== 'string') return [];
    if (!urlParts(url)?.parameters.some(([parameter]) => parameter === 'tunnel')) return [];
    delete section[field];
    const message = `${key} of the hub has a tunnel`;
    const hint = 'Write the target with src_tunnel in the configuration file, which is trusted before it takes effect.';
    return [{ path: ['targets', name, part, field], code: 'file_only', message, hint }];
  });
}

function permitted(environment: NodeJS.ProcessEnv): Variables {
  const variables = variablesOf(environment);
  return (name) => {
    if (!KEPT_VARIABLES.test(name)) return variables(name);
    throw new TemplateError(
      `variable ${name} is not available to URLs of the hub`,
      0,
      'Use another variable in the URL.',
    );
  };
}

function settingsOf({ settings, permissions }: CloudTarget, shape: Shape): TargetSettings {
  const title = typeof settings.name === 'string' ? { name: settings.name } : {};
  const others: TargetSettings = { ...title, share: {} };
  if (!permissions.includes('read_source')) return others;
  const tree = structuredClone(settings) as Tree;
  // Keys of a newer hub are left out.
  removeUnknownKeys(tree, shape);
  const parsed = v.safeParse(targetSettingsSchema, tree);
  if (!parsed.success) return others;
  const { storage_profile: _, sso_groups: __, sanitize, ...rest } = parsed.output;
  const { storage_profile: ___, ...query } = sanitize ?? {};
  return { ...rest, ...(sanitize && { sanitize: query }) };
}

/** The target in a key such as `targets.NAME.snapshot.src_url`; a name may contain dots. */
export function targetIn(key: string): string {
  return key.split('.').slice(1, -2).join('.');
}

export function withUrls(target: CloudTarget, urls: Record<string, string>): CloudTarget {
  const settings = structuredClone(target.settings) as Record<string, Tree | undefined>;
  for (const key of URL_KEYS) {
    const [part = '', field = ''] = key.split('.');
    const url = urls[key];
    if (url !== undefined) settings[part] = { ...settings[part], [field]: url };
  }
  return { ...target, settings };
}

export function urlsOf(targets: Settings['targets'], name: string): string[] {
  const urls = URL_KEYS.map((key) => valueAt(targets as Tree, [name, ...key.split('.')]));
  return urls.filter((url) => typeof url === 'string');
}
