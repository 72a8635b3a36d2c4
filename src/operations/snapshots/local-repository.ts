import { queryFilesIn } from '../../config/query-files.ts';
import { createLocalRepository, type LocalRepository } from '../../repository/local-repository.ts';
import type { Context } from '../../runtime/context.ts';

export function localRepository({ configuration, report }: Context): LocalRepository {
  const { settings } = configuration;
  const directory = settings.working_directory;
  return createLocalRepository({ directory, report, claims: true, configured: queryFilesIn(settings) });
}
