import * as v from 'valibot';
import { auditPageSchema, createdTokenSchema, tokenPageSchema } from '../../../src/cloud/contract/schemas.ts';
import { branchList } from '../../../src/results/branch-results.ts';
import { hubContent, signedIn, signedOut } from '../../../src/results/cloud-results.ts';
import * as configuration from '../../../src/results/configuration/configuration-results.ts';
import { flag, number, text, texts } from '../../../src/results/fields.ts';
import { historyList } from '../../../src/results/history-results.ts';
import * as results from '../../../src/results/results.ts';
import { changesResult } from '../../../src/results/review/changes-results.ts';
import { diffResult, tableDiff } from '../../../src/results/review/diff-results.ts';
import { rowsResult } from '../../../src/results/review/rows-results.ts';
import { serverList } from '../../../src/results/server-results.ts';
import type { ResultShape } from './results.ts';

const { item: serviceToken } = tokenPageSchema.entries.items;

/** Documents of the reading commands. */
export const DOCUMENTS: Record<string, ResultShape[]> = {
  targets: [results.targetList, results.describedTargetList],
  target: [results.targetSnapshots, results.describedTargetSnapshots],
  'branch list': [branchList],
  ps: [serverList],
  diff: [diffResult, tableDiff],
  rows: [rowsResult],
  changes: [changesResult],
  history: [historyList],
  'config init': [configuration.initResult],
  'config save-target': [configuration.savedTarget],
  'config import': [configuration.importReport],
  'config check': [configuration.checkReport],
  'config show': [configuration.shownConfiguration],
  'config encrypt': [configuration.encryptResult],
  'config decrypt': [v.object({ key: text, value: text })],
  key: [configuration.ownKey],
  trust: [
    configuration.trustedFile,
    configuration.forgottenSource,
    configuration.declaredSources,
    configuration.clearStorage,
  ],
  'auth status': [v.object({ providers: v.array(signedIn), authtoken: flag })],
  'auth logout': [v.object({ signed_out: v.array(signedOut) })],
  'auth token': [v.object({ file: text, encrypted: texts })],
  'cloud show': [hubContent],
  'cloud audit': [v.object({ events: auditPageSchema.entries.items })],
  'cloud token create': [createdTokenSchema],
  'cloud token list': [v.object({ tokens: tokenPageSchema.entries.items })],
  'cloud token revoke': [serviceToken],
  'hub migrate': [v.object({ migrations: texts, rewrapped: number })],
  completion: [v.object({ shell: text, script: text })],
};

/** Commands whose output is not a document of this contract: JSON Schemas, a server's log, and the completion's own. */
export const OTHER_DOCUMENTS = ['config schema', 'hub serve', 'mcp', '__complete'];
