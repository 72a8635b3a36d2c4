import { chmod, mkdir } from 'node:fs/promises';
import { readAwsProfiles } from '../../config/aws-profiles.ts';
import type { FileRequest } from '../../config/config-file.ts';
import type { Problem } from '../../config/configuration.ts';
import { changeText } from '../../config/edit/change-text.ts';
import { type DiffLine, diffLines } from '../../config/edit/diff-lines.ts';
import { fixFor } from '../../config/keys/fixes.ts';
import type { Shape } from '../../config/schema/shape.ts';
import { EXIT, UserError } from '../../runtime/errors.ts';
import { type CheckReport, type CheckRequest, check } from './check.ts';
import { type Draft, openDraft, saveText } from './edit-configuration.ts';
import { encryptSecrets } from './secrets.ts';

/** What the check has found, and what mends it. */
export interface Diagnosis {
  report: CheckReport;
  /** Of the problems, in their order; `null` where only a person can. */
  fixes: (Fix | null)[];
  /** Encrypts the secrets that stand in the file in plain. */
  encrypt: Fix | null;
  /** Makes the working directory. */
  makeFolder: Fix | null;
}

/** Something that can be done about a finding. */
export interface Fix {
  /** In a few words. */
  does: string;
  /** Looks what would be done, and does nothing yet. */
  plan: () => Promise<FixPlan>;
}

export interface FixPlan {
  does: string;
  /** What becomes of the text of the file, or in words of something else. */
  change:
    | { kind: 'text'; file: string; base: string; text: string; shape: Shape; diff: DiffLine[] }
    | { kind: 'said'; lines: string[] };
  apply: () => Promise<void>;
}

/** The check, and for each finding what mends it, where one can know. */
export async function diagnose(request: CheckRequest): Promise<Diagnosis> {
  const { report } = await check(request);
  const { problems, plain_secrets, working_directory } = report;
  const draft = await openDraft(request).catch(ifInvalid);
  const cliProfiles = [...(await readAwsProfiles(request.environment)).keys()];
  const textFix = (does: string, change: (draft: Draft) => string): Fix => ({
    does,
    plan: () => planText(request, { does, change }),
  });
  const fixOf = (problem: Problem): Fix | null => {
    if (problem.code === 'file_readable_by_others' && problem.file !== null) return protecting(problem.file);
    const found = draft && fixFor(problem, { ...draft, cliProfiles });
    return found && textFix(found.does, ({ base }) => found.changes.reduce(changeText, base));
  };
  return {
    report,
    fixes: problems.map(fixOf),
    encrypt: plain_secrets.length === 0 ? null : textFix('Encrypt them where they stand', encrypted),
    makeFolder: working_directory?.ok === null ? making(working_directory.path) : null,
  };
}

/** Of a file that cannot be read there are no values to mend. */
function ifInvalid(thrown: unknown): null {
  if (thrown instanceof UserError && thrown.exit === EXIT.configuration) return null;
  throw thrown;
}

function encrypted({ base, secretKey }: Draft): string {
  return secretKey === null ? base : encryptSecrets(base, secretKey);
}

/** The change is made on what the file says now; what somebody else writes after that is not written over. */
async function planText(
  request: FileRequest,
  { does, change }: { does: string; change: (draft: Draft) => string },
): Promise<FixPlan> {
  const draft = await openDraft(request);
  const { file, base, shape } = draft;
  const text = change(draft);
  const diff = diffLines(base, text);
  const apply = () => saveText({ file, base, text }, request);
  return { does, change: { kind: 'text', file, base, text, shape, diff }, apply };
}

function protecting(file: string): Fix {
  const does = 'Let nobody but you read the file';
  return {
    does,
    plan: async () => ({
      does,
      change: { kind: 'said', lines: [`chmod 600 ${file}`] },
      apply: () => chmod(file, 0o600).catch(notMended),
    }),
  };
}

function making(folder: string): Fix {
  const does = 'Make the folder';
  return {
    does,
    plan: async () => ({
      does,
      change: { kind: 'said', lines: [`mkdir -p ${folder}`, 'Nobody but you may look into it.'] },
      apply: async () => void (await mkdir(folder, { recursive: true, mode: 0o700 }).catch(notMended)),
    }),
  };
}

function notMended(cause: Error): never {
  throw new UserError(`Nothing was changed: ${cause.message}`, { code: 'not_mended', exit: EXIT.failed, cause });
}
