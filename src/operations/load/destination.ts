import type { Configuration } from '../../config/configuration.ts';
import type { TargetSettings } from '../../config/schema/settings.ts';
import { connectionUrl } from '../../config/urls/connection-url.ts';
import { serviceElsewhere } from '../../config/urls/url-parts.ts';
import type { Context } from '../../runtime/context.ts';
import { EXIT, UserError } from '../../runtime/errors.ts';
import { findTarget } from '../find-target.ts';

export interface ChosenDestination {
  /** Connection URL, with its password. */
  text: string;
  /** Which setting named it, and so why it won. */
  chosenBy: string;
}

/** Where a load goes, highest first: docs/commands.md, "The destination of a load". */
export function chooseDestination(
  { configuration, report }: Pick<Context, 'configuration' | 'report'>,
  { target: name, destdb }: { target: string; destdb?: string | undefined },
): ChosenDestination {
  const target = findTarget(configuration, name);
  if (destdb !== undefined) warnOfService(destdb, report);
  const chosen =
    destdb === undefined ? configuredDestination(configuration, name) : { chosenBy: '--destdb', text: destdb };
  if (chosen) return chosen;
  throw new UserError(`Target "${name}" has no destination to load into`, {
    code: 'destination_missing',
    exit: EXIT.configuration,
    hint: `Set ${ownKey(name, target)} in the configuration, or say --destdb postgres://…`,
  });
}

/** The same without `--destdb`; `null` where nothing names a destination. Throws when a URL cannot be filled in. */
export function configuredDestination(configuration: Configuration, name: string): ChosenDestination | null {
  const target = findTarget(configuration, name);
  const { override, defaults } = configuration.settings;
  const own = ownKey(name, target);
  const candidates: { chosenBy: string; text: string | undefined }[] = [
    { chosenBy: own, text: connectionUrl(configuration, own) },
    { chosenBy: 'override.dst_db_url', text: override?.dst_db_url },
    {
      chosenBy: 'defaults.shared_target_dst_db_url',
      text: target.share ? defaults?.shared_target_dst_db_url : undefined,
    },
  ];
  for (const { chosenBy, text } of candidates) if (text !== undefined) return { text, chosenBy };
  return null;
}

function ownKey(name: string, { share }: TargetSettings): string {
  return `targets.${name}.${share ? 'share' : 'snapshot'}.dst_url`;
}

/** URLs of the configuration are looked at when it is read. */
function warnOfService(url: string, report: Context['report']): void {
  const leak = serviceElsewhere(url);
  if (!leak) return;
  const message = `The password of service '${leak.service}' is sent to ${leak.host}`;
  report({ event: 'warning', code: 'service_elsewhere', message });
}
