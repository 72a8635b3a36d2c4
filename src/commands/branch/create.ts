import { defineCommand } from '../../cli/command.ts';
import { requestOf, runPlanned } from '../../cli/run-planned.ts';
import { DESTDB, DRY_RUN, TARGET } from '../shared-options.ts';
import { excludeEachOther } from '../wrong-usage.ts';
import { BRANCH } from './shared-options.ts';

export const branchCreateCommand = defineCommand({
  name: 'branch create',
  summary: "create a database from a target's base copy, and print its URL",
  group: 'Branches',
  arguments: [TARGET, BRANCH],
  options: [
    { flags: '--count <n>', description: 'create NAME_1 to NAME_n', value: 'count' },
    { flags: '--from <branch>', description: 'take the present state of another branch, by a save' },
    { flags: '--reuse', description: 'keep existing branches' },
    { flags: '--env', description: 'print DATABASE_URL=URL with the password, for an .env file' },
    { flags: '--expires <age>', description: 'let prune drop it after 12h, 7d, 8w', value: 'duration' },
    { flags: '--protect', description: 'drop and reset it with --unprotect only' },
    DESTDB,
    DRY_RUN,
  ],
  examples: [
    { command: 'tool branch create app login-form', does: 'create a branch' },
    { command: 'tool branch create app test --count 8', does: 'create a branch per test worker' },
    { command: 'tool branch create app ci --reuse --env', does: 'print its URL for an .env file' },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { branchCreateOperation } = await import('../../operations/branch/create/operation.ts');
    const { branchUrlLines } = await import('../../operations/branch/create/text.ts');
    const { dryRun, env, from, destdb } = invocation.options;
    if (env && invocation.globals.json) throw excludeEachOther('--env', '--json');
    if (from !== undefined && destdb !== undefined) {
      throw excludeEachOther('--from', '--destdb', 'Branches of --destdb have no saves.');
    }
    const { expires: expiresMs, ...request } = requestOf(invocation);
    const outcome = await runPlanned(invocation, branchCreateOperation, {
      request: { ...request, expiresMs },
      text: branchUrlLines,
    });
    // Printing the passwords is what --env requests.
    return env && !dryRun ? { ...outcome, data: {}, verbatim: true } : outcome;
  },
});
