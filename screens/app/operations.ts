import { join } from 'node:path';
import type { Change } from '../../src/config/edit/change.ts';
import type { DiffLine } from '../../src/config/edit/diff-lines.ts';
import type { InEffect } from '../../src/config/in-effect.ts';
import type { Shape } from '../../src/config/schema/shape.ts';
import type { KeyPath } from '../../src/config/tree.ts';
import type { TrustRequest } from '../../src/config/trust/trust-request.ts';
import type { BranchCreateRequest, PlannedBranches } from '../../src/operations/branch/create.ts';
import type { BranchDropRequest, PlannedBranchDrop } from '../../src/operations/branch/drop.ts';
import type { BranchResetRequest, PlannedBranchReset } from '../../src/operations/branch/reset.ts';
import type { BranchSwitchRequest, PlannedBranchSwitch } from '../../src/operations/branch/switch.ts';
import type { BuildRequest } from '../../src/operations/build.ts';
import type { AuditList, AuditRequest } from '../../src/operations/cloud/audit.ts';
import type { CheckRequest, EngineState } from '../../src/operations/configuration/check.ts';
import type { Draft } from '../../src/operations/configuration/edit-configuration.ts';
import type { CheckWithFixes, Fix, FixPlan } from '../../src/operations/configuration/fix.ts';
import type { SetUp, SetUpPlan } from '../../src/operations/configuration/set-up.ts';
import type { SourceNames } from '../../src/operations/configuration/source-names.ts';
import type { TriedDestination, TriedSource } from '../../src/operations/configuration/try-connection.ts';
import type { StorageProfile } from '../../src/operations/configuration/try-storage.ts';
import type { HistoryRequest } from '../../src/operations/history/list-history.ts';
import type { ClientRequest } from '../../src/operations/load/client-program.ts';
import type { GuardOptions } from '../../src/operations/load/guard.ts';
import type { LoadRequest, PlannedLoad } from '../../src/operations/load/planned-load.ts';
import type { PlannedReset, ResetRequest } from '../../src/operations/load/reset.ts';
import type { PlannedUndo, UndoRequest } from '../../src/operations/load/undo.ts';
import type { PlannedSanitize, SanitizeRequest } from '../../src/operations/sanitize/sanitize.ts';
import type { PlannedQuerySave, QuerySaveRequest } from '../../src/operations/sanitize/save-query.ts';
import type { OpenSuggestion } from '../../src/operations/sanitize/suggest.ts';
import type { ProviderChoice } from '../../src/operations/sign-in/find-provider.ts';
import type { SignInRequest } from '../../src/operations/sign-in/sign-in.ts';
import type { SignedIn } from '../../src/operations/sign-in/sign-in-status.ts';
import type { DiffRequest } from '../../src/operations/snapshots/diff.ts';
import type { ExportRequest } from '../../src/operations/snapshots/export.ts';
import type { PlannedPrune, PruneRequest } from '../../src/operations/snapshots/prune.ts';
import type { PlannedRemove } from '../../src/operations/snapshots/remove.ts';
import type { RowsRequest } from '../../src/operations/snapshots/rows.ts';
import type { AnnotateRequest, SnapshotRequest } from '../../src/operations/snapshots/snapshots.ts';
import type { TableDiffRequest } from '../../src/operations/snapshots/table-diff.ts';
import type { SaveSubset } from '../../src/operations/subset/save-subset.ts';
import type { PlannedSubset } from '../../src/operations/subset/subset.ts';
import type { SubsetRequest } from '../../src/operations/subset/subset-setting.ts';
import type { CheckTargets, RefreshTargets } from '../../src/operations/targets.ts';
import type {
  BranchCreateResult,
  BranchDropResult,
  BranchList,
  BranchResetResult,
  BranchSwitchResult,
} from '../../src/results/branch-results.ts';
import type { HistoryList } from '../../src/results/history-results.ts';
import type { LoadResult, ResetResult } from '../../src/results/load-results.ts';
import type {
  DiffResult,
  ExportResult,
  Sized,
  SnapshotRow,
  SnapshotTable,
  TargetRow,
  TargetSnapshots,
  TransferResult,
  VerifyResult,
} from '../../src/results/results.ts';
import type { RowsResult } from '../../src/results/rows-results.ts';
import type { SanitizeResult } from '../../src/results/sanitize-results.ts';
import type { SubsetResult } from '../../src/results/subset-results.ts';
import type { TableDiff } from '../../src/results/table-diff.ts';
import type { Context } from '../../src/runtime/context.ts';
import type { RunContext } from '../../src/state/runs.ts';
import { withoutPasswords, withoutSecrets, withSecrets } from './hide-secrets.ts';
import type { RunnableProgram } from './runnable-program.ts';

/** The operations as the screens see them. */
export interface Operations {
  listTargets(session: RunContext): Promise<TargetRow[]>;
  /** `apart`: in a worker thread. */
  refreshTargets(session: RunContext, request: RefreshTargets & { apart?: boolean }): Promise<void>;
  /** The live states of these targets, without listing any. */
  checkTargets(session: RunContext, request: CheckTargets): Promise<void>;
  /** Sizes of the newest local snapshots by target, oldest first. */
  listSizes(session: RunContext, targets: string[]): Promise<Map<string, number[]>>;
  listSnapshots(session: RunContext, target: string): Promise<TargetSnapshots>;
  /** Stored bytes of its snapshots on this machine; null where there are too many to add up. */
  localDiskUse(session: RunContext, target: string): Promise<number | null>;
  annotate(session: RunContext, request: AnnotateRequest): Promise<SnapshotRow>;
  build(session: RunContext, request: BuildRequest): Promise<SnapshotRow>;
  /** The sanitization after the build; `null` without a sanitization query. */
  planBuild(session: RunContext, request: BuildRequest & GuardOptions): Promise<PlannedSanitize | null>;
  planSanitize(session: RunContext, request: SanitizeRequest): Promise<PlannedSanitize>;
  applySanitize(session: RunContext, planned: PlannedSanitize): Promise<SanitizeResult>;
  /** Keeps the throw-away database of the suggestion while `use` runs. */
  withSuggestion(
    session: RunContext,
    request: SanitizeRequest,
    use: (opened: OpenSuggestion) => Promise<void>,
  ): Promise<void>;
  planQuerySave(session: RunContext, request: QuerySaveRequest): Promise<PlannedQuerySave>;
  applyQuerySave(session: RunContext, planned: PlannedQuerySave): Promise<{ file: string }>;
  planLoad(session: RunContext, request: LoadRequest): Promise<PlannedLoad>;
  applyLoad(session: RunContext, planned: PlannedLoad): Promise<LoadResult>;
  verify(session: RunContext, request: SnapshotRequest): Promise<VerifyResult>;
  planRemove(session: RunContext, request: SnapshotRequest): Promise<PlannedRemove>;
  applyRemove(session: RunContext, planned: PlannedRemove): Promise<void>;
  planPrune(session: RunContext, request: PruneRequest): Promise<PlannedPrune>;
  applyPrune(session: RunContext, planned: PlannedPrune): Promise<void>;
  planUndo(session: RunContext, request: UndoRequest): Promise<PlannedUndo>;
  applyUndo(session: RunContext, planned: PlannedUndo): Promise<LoadResult>;
  planReset(session: RunContext, request: ResetRequest): Promise<PlannedReset>;
  applyReset(session: RunContext, planned: PlannedReset): Promise<ResetResult>;
  listBranches(session: RunContext, request: { target: string }): Promise<BranchList>;
  planBranchCreate(session: RunContext, request: BranchCreateRequest): Promise<PlannedBranches>;
  applyBranchCreate(session: RunContext, planned: PlannedBranches): Promise<BranchCreateResult>;
  planBranchReset(session: RunContext, request: BranchResetRequest): Promise<PlannedBranchReset>;
  applyBranchReset(session: RunContext, planned: PlannedBranchReset): Promise<BranchResetResult>;
  planBranchDrop(session: RunContext, request: BranchDropRequest): Promise<PlannedBranchDrop>;
  applyBranchDrop(session: RunContext, planned: PlannedBranchDrop): Promise<BranchDropResult>;
  planBranchSwitch(session: RunContext, request: BranchSwitchRequest): Promise<PlannedBranchSwitch>;
  applyBranchSwitch(session: RunContext, planned: PlannedBranchSwitch): Promise<BranchSwitchResult>;
  listHistory(session: RunContext, request: HistoryRequest): Promise<HistoryList>;
  /** Runs psql or mysql on the destination; resolves with what `run` gives. */
  openClient<Result>(
    session: RunContext,
    request: ClientRequest,
    run: (program: RunnableProgram) => Promise<Result>,
  ): Promise<Result>;
  listTables(session: RunContext, request: SnapshotRequest): Promise<SnapshotTable[]>;
  readRows(session: RunContext, request: RowsRequest): Promise<RowsResult>;
  diff(session: RunContext, request: DiffRequest): Promise<DiffResult>;
  diffTable(session: RunContext, request: TableDiffRequest): Promise<TableDiff>;
  push(session: RunContext, request: SnapshotRequest): Promise<TransferResult>;
  pull(session: RunContext, request: SnapshotRequest): Promise<TransferResult>;
  export(session: RunContext, request: ExportRequest): Promise<ExportResult>;
  checkWithFixes(session: RunContext): Promise<CheckWithFixes>;
  planFix(fix: Fix): Promise<ShownFix>;
  applyFix(plan: FixPlan): Promise<void>;
  findEngines(session: RunContext): Promise<EngineState[]>;
  listDatabases(session: RunContext, url: string): Promise<Sized[]>;
  trySource(session: RunContext, url: string): Promise<TriedSource>;
  tryDestination(session: RunContext, urls: { source: string; destination: string }): Promise<TriedDestination>;
  listCliProfiles(): Promise<string[]>;
  /** Resolves with the bucket's display name. */
  tryStorage(session: RunContext, profile: StorageProfile): Promise<string>;
  planSetUp(setUp: SetUp): Promise<SetUpPlan>;
  /** Writes the file and sets its variables for the rest of the session. */
  applySetUp(plan: SetUpPlan): Promise<void>;
  /** Includes row counts. */
  planSubset(session: RunContext, request: SubsetRequest): Promise<PlannedSubset>;
  applySubset(session: RunContext, planned: PlannedSubset): Promise<SubsetResult>;
  saveSubset(session: RunContext, request: SaveSubset): Promise<{ file: string }>;
  openDraft(): Promise<Draft>;
  /** With a time limit of its own. */
  listSourceNames(session: RunContext, request: { draft: Draft; source: KeyPath }): Promise<SourceNames>;
  changeDraft(draft: Draft, changes: Change[]): Promise<Draft>;
  addChange(draft: Draft, change: Change): Promise<Draft>;
  redoDraft(draft: Draft): Promise<Draft>;
  diffDraft(draft: Draft): Promise<DiffLine[]>;
  saveDraft(draft: Draft): Promise<Draft>;
  listProviders(session: RunContext): Promise<ProviderChoice[]>;
  signIn(session: RunContext, request: SignInRequest): Promise<SignedIn>;
  listAudit(session: RunContext, request: AuditRequest): Promise<AuditList>;
  /** Remembers that the configuration of the current folder is trusted. */
  trust(request: TrustRequest): Promise<void>;
  /** Keeps the configuration of the current folder trusted while the user edits a file that it names. */
  keepTrust(edit: () => Promise<void>): Promise<void>;
}

export interface ShownFix {
  plan: FixPlan;
  /** Of the configuration: by it secrets are hidden. */
  shape: Shape;
}

/** Makes the context of an operation; reads the configuration on first use. */
export type CreateContext = (session: RunContext) => Context | Promise<Context>;

/** For operations on a configuration that may be missing or invalid. */
export type Surroundings = Pick<CheckRequest, 'file' | 'environment' | 'cwd' | 'clock'>;

export interface OperationsOptions {
  /** Keeps a log even where the configuration does not. */
  debug?: boolean | undefined;
  /** Called with the configuration that a worker thread has read; `createContext` reports that of this one. */
  configurationRead?: (configuration: InEffect) => void;
}

/** The real operations, each loaded on first use: the first frame needs none of them. */
export function lazyOperations(
  createContext: CreateContext,
  surroundings: Surroundings,
  { debug = false, configurationRead = () => {} }: OperationsOptions = {},
): Operations {
  const inContext =
    <Args extends unknown[], Result>(
      operation: () => Promise<(context: Context, ...args: Args) => Result | Promise<Result>>,
    ) =>
    async (session: RunContext, ...args: Args): Promise<Result> => {
      const perform = await operation();
      return withoutSecrets(session, createContext, (context) => perform(context, ...withSecrets(args)));
    };
  return {
    listTargets: inContext(async () => (await import('../../src/operations/targets.ts')).listTargets),
    async refreshTargets(session, request) {
      if (request.apart) {
        const { refreshInThread } = await import('../../src/operations/refresh-thread.ts');
        const { file: config, environment, cwd } = surroundings;
        const place = { config, environment, cwd, debug };
        if (await refreshInThread({ ...request, signal: session.signal, place, configurationRead })) return;
      }
      const { refreshTargets } = await import('../../src/operations/targets.ts');
      return withoutSecrets(session, createContext, (context) => refreshTargets(context, request));
    },
    checkTargets: inContext(async () => (await import('../../src/operations/targets.ts')).checkTargets),
    listSizes: inContext(async () => (await import('../../src/operations/snapshots/sizes.ts')).listSizes),
    listSnapshots: inContext(async () => (await import('../../src/operations/snapshots/snapshots.ts')).listSnapshots),
    localDiskUse: inContext(async () => (await import('../../src/operations/snapshots/sizes.ts')).localDiskUse),
    annotate: inContext(async () => (await import('../../src/operations/snapshots/snapshots.ts')).annotate),
    build: inContext(async () => (await import('../../src/operations/build.ts')).build),
    async planBuild(session, request) {
      const { hasSanitizeQuery, planSanitize } = await import('../../src/operations/sanitize/sanitize.ts');
      const build = request.includeNeededSchemas ? { includeNeededSchemas: true } : {};
      return withoutSecrets(session, createContext, (context) =>
        hasSanitizeQuery(context, request.target) ? planSanitize(context, { ...request, build }) : null,
      );
    },
    planSanitize: inContext(async () => (await import('../../src/operations/sanitize/sanitize.ts')).planSanitize),
    applySanitize: inContext(async () => (await import('../../src/operations/sanitize/sanitize.ts')).applySanitize),
    async withSuggestion(session, request, use) {
      const { withSuggestion } = await import('../../src/operations/sanitize/suggest.ts');
      return withoutSecrets(session, createContext, (context) => withSuggestion(context, request, use));
    },
    planQuerySave: inContext(async () => (await import('../../src/operations/sanitize/save-query.ts')).planQuerySave),
    applyQuerySave: inContext(async () => (await import('../../src/operations/sanitize/save-query.ts')).applyQuerySave),
    planLoad: inContext(async () => (await import('../../src/operations/load/load.ts')).planLoad),
    applyLoad: inContext(async () => (await import('../../src/operations/load/load.ts')).applyLoad),
    verify: inContext(async () => (await import('../../src/operations/snapshots/verify.ts')).verify),
    planRemove: inContext(async () => (await import('../../src/operations/snapshots/remove.ts')).planRemove),
    applyRemove: inContext(async () => (await import('../../src/operations/snapshots/remove.ts')).applyRemove),
    planPrune: inContext(async () => (await import('../../src/operations/snapshots/prune.ts')).planPrune),
    applyPrune: inContext(async () => (await import('../../src/operations/snapshots/prune.ts')).applyPrune),
    planUndo: inContext(async () => (await import('../../src/operations/load/undo.ts')).planUndo),
    applyUndo: inContext(async () => (await import('../../src/operations/load/undo.ts')).applyUndo),
    planReset: inContext(async () => (await import('../../src/operations/load/reset.ts')).planReset),
    applyReset: inContext(async () => (await import('../../src/operations/load/reset.ts')).applyReset),
    listBranches: inContext(async () => (await import('../../src/operations/branch/list.ts')).listBranches),
    planBranchCreate: inContext(async () => (await import('../../src/operations/branch/create.ts')).planBranchCreate),
    applyBranchCreate: inContext(async () => (await import('../../src/operations/branch/create.ts')).applyBranchCreate),
    planBranchReset: inContext(async () => (await import('../../src/operations/branch/reset.ts')).planBranchReset),
    applyBranchReset: inContext(async () => (await import('../../src/operations/branch/reset.ts')).applyBranchReset),
    planBranchDrop: inContext(async () => (await import('../../src/operations/branch/drop.ts')).planBranchDrop),
    applyBranchDrop: inContext(async () => (await import('../../src/operations/branch/drop.ts')).applyBranchDrop),
    planBranchSwitch: inContext(async () => (await import('../../src/operations/branch/switch.ts')).planBranchSwitch),
    applyBranchSwitch: inContext(async () => (await import('../../src/operations/branch/switch.ts')).applyBranchSwitch),
    listHistory: inContext(async () => (await import('../../src/operations/history/list-history.ts')).listHistory),
    async openClient(session, request, run) {
      const { withClient } = await import('../../src/operations/load/client-program.ts');
      return withoutSecrets(session, createContext, (context) => withClient(context, request, run));
    },
    listTables: inContext(async () => (await import('../../src/operations/snapshots/snapshot-tables.ts')).listTables),
    readRows: inContext(async () => (await import('../../src/operations/snapshots/rows.ts')).readRows),
    diff: inContext(async () => (await import('../../src/operations/snapshots/diff.ts')).diff),
    diffTable: inContext(async () => (await import('../../src/operations/snapshots/table-diff.ts')).diffTable),
    push: inContext(async () => (await import('../../src/operations/snapshots/push.ts')).push),
    pull: inContext(async () => (await import('../../src/operations/snapshots/pull.ts')).pull),
    export: inContext(async () => (await import('../../src/operations/snapshots/export.ts')).exportSnapshot),
    async checkWithFixes(session) {
      // Without a context, which an invalid configuration does not have.
      const { checkWithFixes } = await import('../../src/operations/configuration/fix.ts');
      return checkWithFixes({ ...surroundings, ...session, offline: false });
    },
    async planFix(fix) {
      const [{ planFix }, { shapeOf }, { settingsSchema }] = await Promise.all([
        import('../../src/operations/configuration/fix.ts'),
        import('../../src/config/schema/shape.ts'),
        import('../../src/config/schema/settings.ts'),
      ]);
      return { plan: await planFix(surroundings, fix), shape: shapeOf(settingsSchema) };
    },
    async applyFix(plan) {
      const { applyFix } = await import('../../src/operations/configuration/fix.ts');
      await applyFix(surroundings, plan);
    },
    async findEngines(session) {
      const { findEngines } = await import('../../src/operations/configuration/check.ts');
      return findEngines({ ...surroundings, ...session });
    },
    async listDatabases(session, url) {
      const { listDatabases } = await import('../../src/operations/configuration/try-connection.ts');
      return withoutPasswords(session, [url], (given) => listDatabases({ ...surroundings, ...given }, url));
    },
    async trySource(session, url) {
      const { trySource } = await import('../../src/operations/configuration/try-connection.ts');
      return withoutPasswords(session, [url], (given) => trySource({ ...surroundings, ...given }, url));
    },
    async tryDestination(session, urls) {
      const { tryDestination } = await import('../../src/operations/configuration/try-connection.ts');
      return withoutPasswords(session, Object.values(urls), (given) =>
        tryDestination({ ...surroundings, ...given }, urls),
      );
    },
    async listCliProfiles() {
      const { readAwsProfiles } = await import('../../src/config/aws-profiles.ts');
      return [...(await readAwsProfiles(surroundings.environment)).keys()];
    },
    async tryStorage(session, profile) {
      const { tryStorage } = await import('../../src/operations/configuration/try-storage.ts');
      return tryStorage(profile, session);
    },
    async planSetUp(setUp) {
      const { planSetUp } = await import('../../src/operations/configuration/set-up.ts');
      return planSetUp(surroundings, setUp);
    },
    async applySetUp(plan) {
      const { applySetUp } = await import('../../src/operations/configuration/set-up.ts');
      await applySetUp(surroundings, plan);
      for (const [name, value] of Object.entries(plan.variables)) surroundings.environment[name] ??= value;
    },
    async planSubset(session, request) {
      const { planSubset } = await import('../../src/operations/subset/subset.ts');
      return withoutSecrets(session, createContext, (context) => planSubset(context, { ...request, count: true }));
    },
    applySubset: inContext(async () => (await import('../../src/operations/subset/subset.ts')).applySubset),
    saveSubset: inContext(async () => (await import('../../src/operations/subset/save-subset.ts')).saveSubset),
    async openDraft() {
      const { openDraft } = await import('../../src/operations/configuration/edit-configuration.ts');
      return openDraft(surroundings);
    },
    async listSourceNames(session, request) {
      const { sourceNames } = await import('../../src/operations/configuration/source-names.ts');
      return sourceNames({ ...surroundings, ...session }, request);
    },
    async changeDraft(draft, changes) {
      const { changeDraft } = await import('../../src/operations/configuration/edit-configuration.ts');
      return changeDraft(surroundings, draft, changes);
    },
    async addChange(draft, change) {
      const { addChange } = await import('../../src/operations/configuration/edit-configuration.ts');
      return addChange(surroundings, draft, change);
    },
    async redoDraft(draft) {
      const { redoDraft } = await import('../../src/operations/configuration/edit-configuration.ts');
      return redoDraft(surroundings, draft);
    },
    async diffDraft(draft) {
      const { diffDraft } = await import('../../src/operations/configuration/edit-configuration.ts');
      return diffDraft(draft);
    },
    async saveDraft(draft) {
      const { saveDraft } = await import('../../src/operations/configuration/edit-configuration.ts');
      return saveDraft(surroundings, draft);
    },
    listProviders: inContext(async () => (await import('../../src/operations/cloud/sign-in-choices.ts')).listSignIns),
    signIn: inContext(async () => (await import('../../src/operations/cloud/sign-in-choices.ts')).signInWith),
    listAudit: inContext(async () => (await import('../../src/operations/cloud/audit.ts')).listAuditEvents),
    async trust(request) {
      const { rememberTrust } = await import('../../src/config/trust/trust-store.ts');
      await rememberTrust(request, surroundings.environment);
    },
    async keepTrust(edit) {
      const { keepTrust } = await import('../../src/config/trust/trust-store.ts');
      const { cwd, environment } = surroundings;
      await keepTrust({ file: join(cwd, 'tool.yml'), environment }, edit);
    },
  };
}
