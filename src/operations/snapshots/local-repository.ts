import { queryFilesIn } from '../../config/query-files.ts';
import type { Context } from '../../context.ts';
import { createRepository, type Repository } from '../../snapshots/repository.ts';

export function repositoryOf({ configuration, report }: Context): Repository {
  const { settings } = configuration;
  const directory = settings.working_directory;
  return createRepository({ directory, report, claims: true, configured: queryFilesIn(settings) });
}
