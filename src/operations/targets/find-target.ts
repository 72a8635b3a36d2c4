import type { Configuration } from '../../config/configuration.ts';
import { lacksSignIn } from '../../config/mode.ts';
import type { TargetSettings } from '../../config/schema/settings.ts';
import { UserError } from '../../runtime/errors.ts';
import { nearest } from '../../text/nearest.ts';

export const SIGN_IN = 'Sign in to have the targets of the hub: tool auth login hub';

export const NONE_ON_HUB = 'Neither the configuration nor the hub has a target for you.';

/** The target's settings; an error of wrong usage when there is none of this name. */
export function findTarget({ settings, cloud }: Configuration, name: string): TargetSettings {
  // `toString` is not a target.
  const target = Object.hasOwn(settings.targets, name) ? settings.targets[name] : undefined;
  if (target) return target;
  const names = Object.keys(settings.targets);
  const near = nearest(name, names);
  const noTargets = cloud ? NONE_ON_HUB : lacksSignIn(settings) ? SIGN_IN : 'The configuration has no targets yet.';
  throw new UserError('target_unknown', `There is no target "${name}"`, {
    hint: names.length === 0 ? noTargets : `${near === null ? '' : `Did you mean "${near}"? `}tool targets lists all.`,
  });
}
