import { queryFilesIn } from '../../config/query-files.ts';
import { createRepository, type Repository } from '../../repository/repository.ts';
import type { Context } from '../../runtime/context.ts';

export function localRepository({ configuration, report }: Context): Repository {
  const { settings } = configuration;
  const directory = settings.working_directory;
  return createRepository({ directory, report, claims: true, configured: queryFilesIn(settings) });
}
