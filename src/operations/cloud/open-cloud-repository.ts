import { openRepositoryOnHub } from '../../cloud/cloud-repository.ts';
import type { RemoteRepository } from '../../repository/remote-repository.ts';
import type { Context } from '../../runtime/context.ts';
import { openCloud } from './open-cloud.ts';

export function openCloudRepository(
  context: Context,
  { target, listing = false }: { target: string; listing?: boolean },
): Promise<RemoteRepository> {
  const { configuration, report, signal } = context;
  return openRepositoryOnHub({
    open: (other, how) => openCloud({ ...context, signal: other }, how),
    listing,
    target,
    directory: configuration.settings.working_directory,
    report,
    signal,
  });
}
