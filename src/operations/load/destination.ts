import { connectionUrl } from '../../config/connection-url.ts';
import { serviceElsewhere } from '../../config/url-parts.ts';
import type { Context } from '../../context.ts';
import { EXIT, UserError } from '../../errors.ts';
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
  const { override, defaults } = configuration.settings;
  const own = `targets.${name}.${target.share ? 'share' : 'snapshot'}.dst_url`;
  const candidates: { chosenBy: string; text: string | undefined }[] = [
    { chosenBy: '--destdb', text: destdb },
    { chosenBy: own, text: connectionUrl(configuration, own) },
    { chosenBy: 'override.dst_db_url', text: override?.dst_db_url },
    { chosenBy: 'defaults.shared_target_dst_db_url', text: target.share && defaults?.shared_target_dst_db_url },
  ];
  if (destdb !== undefined) warnOfService(destdb, report);
  for (const { chosenBy, text } of candidates) if (text !== undefined) return { text, chosenBy };
  throw new UserError(`Target "${name}" has no destination to load into`, {
    code: 'destination_missing',
    exit: EXIT.configuration,
    hint: `Set ${own} in the configuration, or say --destdb postgres://…`,
  });
}

/** URLs of the configuration are looked at when it is read. */
function warnOfService(url: string, report: Context['report']): void {
  const leak = serviceElsewhere(url);
  if (!leak) return;
  const message = `The password of service '${leak.service}' is sent to ${leak.host}`;
  report({ event: 'warning', code: 'service_elsewhere', message });
}
