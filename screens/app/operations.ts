import type { Change } from '../../src/config/edit/change.ts';
import type { DiffLine } from '../../src/config/edit/diff-lines.ts';
import type { KeyPath } from '../../src/config/tree.ts';
import type { TrustRequest } from '../../src/config/trust/trust-request.ts';
import type { Context } from '../../src/context.ts';
import type { BuildRequest } from '../../src/operations/build.ts';
import type { CheckRequest, EngineState } from '../../src/operations/configuration/check.ts';
import type { Draft } from '../../src/operations/configuration/edit-configuration.ts';
import type { Diagnosis } from '../../src/operations/configuration/fix.ts';
import type { SetUp, SetUpPlan } from '../../src/operations/configuration/set-up.ts';
import type { SourceNames } from '../../src/operations/configuration/source-names.ts';
import type { TriedDestination, TriedSource } from '../../src/operations/configuration/try-connection.ts';
import type { StorageProfile } from '../../src/operations/configuration/try-storage.ts';
import type { GuardOptions } from '../../src/operations/load/guard.ts';
import type { LoadRequest, PlannedLoad } from '../../src/operations/load/planned-load.ts';
import type { UndoRequest } from '../../src/operations/load/undo.ts';
import type { PlannedSanitize, SanitizeRequest } from '../../src/operations/sanitize/sanitize.ts';
import type { ProviderChoice } from '../../src/operations/sign-in/find-provider.ts';
import type { SignInRequest } from '../../src/operations/sign-in/sign-in.ts';
import type { SignedIn } from '../../src/operations/sign-in/sign-in-status.ts';
import type { DiffRequest } from '../../src/operations/snapshots/diff.ts';
import type { ExportRequest } from '../../src/operations/snapshots/export.ts';
import type { SnapshotRequest } from '../../src/operations/snapshots/snapshots.ts';
import type { SaveSubset } from '../../src/operations/subset/save-subset.ts';
import type { PlannedSubset } from '../../src/operations/subset/subset.ts';
import type { SubsetRequest } from '../../src/operations/subset/subset-setting.ts';
import type { RefreshTargets } from '../../src/operations/targets.ts';
import type {
  DiffResult,
  ExportResult,
  LoadResult,
  RemovePlan,
  Sized,
  SnapshotRow,
  SnapshotTable,
  TargetRow,
  TargetSnapshots,
  TransferResult,
  UndoPlan,
  VerifyResult,
} from '../../src/results.ts';
import type { SanitizeResult } from '../../src/sanitize-results.ts';
import type { Session } from '../../src/state/runs.ts';
import type { SubsetResult } from '../../src/subset-results.ts';

/** What the screens can have done, as they see it. */
export interface Operations {
  listTargets(session: Session): Promise<TargetRow[]>;
  /** `apart`: in a thread of its own. */
  refreshTargets(session: Session, request: RefreshTargets & { apart?: boolean }): Promise<void>;
  listSnapshots(session: Session, target: string): Promise<TargetSnapshots>;
  annotate(session: Session, request: SnapshotRequest & { note: string }): Promise<SnapshotRow>;
  build(session: Session, request: BuildRequest): Promise<SnapshotRow>;
  /** How the target's snapshot is sanitized once it is built; `null` when it is not. */
  planBuild(session: Session, request: BuildRequest & GuardOptions): Promise<PlannedSanitize | null>;
  planSanitize(session: Session, request: SanitizeRequest): Promise<PlannedSanitize>;
  sanitize(session: Session, planned: PlannedSanitize): Promise<SanitizeResult>;
  planLoad(session: Session, request: LoadRequest): Promise<PlannedLoad>;
  load(session: Session, planned: PlannedLoad): Promise<LoadResult>;
  verify(session: Session, request: SnapshotRequest): Promise<VerifyResult>;
  planRemove(session: Session, request: SnapshotRequest): Promise<RemovePlan>;
  remove(session: Session, plan: RemovePlan): Promise<void>;
  planUndo(session: Session, request: UndoRequest): Promise<UndoPlan>;
  undo(session: Session, plan: UndoPlan): Promise<LoadResult>;
  listTables(session: Session, request: SnapshotRequest): Promise<SnapshotTable[]>;
  diff(session: Session, request: DiffRequest): Promise<DiffResult>;
  push(session: Session, request: SnapshotRequest): Promise<TransferResult>;
  pull(session: Session, request: SnapshotRequest): Promise<TransferResult>;
  export(session: Session, request: ExportRequest): Promise<ExportResult>;
  diagnose(session: Session): Promise<Diagnosis>;
  findEngines(session: Session): Promise<EngineState[]>;
  listDatabases(session: Session, url: string): Promise<Sized[]>;
  trySource(session: Session, url: string): Promise<TriedSource>;
  tryDestination(session: Session, urls: { source: string; destination: string }): Promise<TriedDestination>;
  listCliProfiles(): Promise<string[]>;
  /** Resolves with the bucket as people write it. */
  tryStorage(session: Session, profile: StorageProfile): Promise<string>;
  planSetUp(setUp: SetUp): Promise<SetUpPlan>;
  /** Writes the file; what it takes from variables is known for the rest of the session. */
  writeSetUp(plan: SetUpPlan): Promise<void>;
  /** With the rows that would come counted. */
  planSubset(session: Session, request: SubsetRequest): Promise<PlannedSubset>;
  subset(session: Session, planned: PlannedSubset): Promise<SubsetResult>;
  saveSubset(session: Session, request: SaveSubset): Promise<{ file: string }>;
  openDraft(): Promise<Draft>;
  /** With a time limit of its own. */
  listSourceNames(session: Session, request: { draft: Draft; source: KeyPath }): Promise<SourceNames>;
  changeDraft(draft: Draft, changes: Change[]): Promise<Draft>;
  addChange(draft: Draft, change: Change): Promise<Draft>;
  redoDraft(draft: Draft): Promise<Draft>;
  diffDraft(draft: Draft): Promise<DiffLine[]>;
  saveDraft(draft: Draft): Promise<Draft>;
  listProviders(session: Session): Promise<ProviderChoice[]>;
  signIn(session: Session, request: SignInRequest): Promise<SignedIn>;
  /** Remembers that the configuration of the current folder is trusted. */
  trust(request: TrustRequest): Promise<void>;
}

/** Makes the context of a piece of work; reads the configuration when it is first needed. */
export type CreateContext = (session: Session) => Context | Promise<Context>;

/** Where the program was started: what is asked about a configuration that may be missing or wrong. */
export type Surroundings = Pick<CheckRequest, 'file' | 'environment' | 'cwd' | 'clock'>;

export interface OperationsOptions {
  /** Keeps a log even where the configuration asks for none. */
  debug?: boolean | undefined;
  /** Called with the configuration file that another thread has read; this one hears of its own by `createContext`. */
  fileRead?: (file: string | null) => void;
}

/** The real operations, each loaded when it is first used: the first frame needs none of them. */
export function lazyOperations(
  createContext: CreateContext,
  surroundings: Surroundings,
  { debug = false, fileRead = () => {} }: OperationsOptions = {},
): Operations {
  return {
    async listTargets(session) {
      const { listTargets } = await import('../../src/operations/targets.ts');
      return listTargets(await createContext(session));
    },
    async refreshTargets(session, request) {
      if (request.apart) {
        const { refreshInThread } = await import('../../src/operations/refresh-thread.ts');
        const { file: config, environment, cwd } = surroundings;
        const place = { config, environment, cwd, debug };
        if (await refreshInThread({ ...request, signal: session.signal, place, fileRead })) return;
      }
      const { refreshTargets } = await import('../../src/operations/targets.ts');
      return refreshTargets(await createContext(session), request);
    },
    async listSnapshots(session, target) {
      const { listSnapshots } = await import('../../src/operations/snapshots/snapshots.ts');
      return listSnapshots(await createContext(session), target);
    },
    async annotate(session, request) {
      const { annotate } = await import('../../src/operations/snapshots/snapshots.ts');
      return annotate(await createContext(session), request);
    },
    async build(session, request) {
      const { build } = await import('../../src/operations/build.ts');
      return build(await createContext(session), request);
    },
    async planBuild(session, request) {
      const { hasSanitizeQuery, planSanitize } = await import('../../src/operations/sanitize/sanitize.ts');
      const context = await createContext(session);
      return hasSanitizeQuery(context, request.target) ? planSanitize(context, { ...request, build: {} }) : null;
    },
    async planSanitize(session, request) {
      const { planSanitize } = await import('../../src/operations/sanitize/sanitize.ts');
      return planSanitize(await createContext(session), request);
    },
    async sanitize(session, planned) {
      const { sanitize } = await import('../../src/operations/sanitize/sanitize.ts');
      return sanitize(await createContext(session), planned);
    },
    async planLoad(session, request) {
      const { planLoad } = await import('../../src/operations/load/load.ts');
      return planLoad(await createContext(session), request);
    },
    async load(session, planned) {
      const { load } = await import('../../src/operations/load/load.ts');
      return load(await createContext(session), planned);
    },
    async verify(session, request) {
      const { verify } = await import('../../src/operations/snapshots/verify.ts');
      return verify(await createContext(session), request);
    },
    async planRemove(session, request) {
      const { planRemove } = await import('../../src/operations/snapshots/remove.ts');
      return planRemove(await createContext(session), request);
    },
    async remove(session, plan) {
      const { remove } = await import('../../src/operations/snapshots/remove.ts');
      return remove(await createContext(session), plan);
    },
    async planUndo(session, request) {
      const { planUndo } = await import('../../src/operations/load/undo.ts');
      return planUndo(await createContext(session), request);
    },
    async undo(session, plan) {
      const { undo } = await import('../../src/operations/load/undo.ts');
      return undo(await createContext(session), plan);
    },
    async listTables(session, request) {
      const { listTables } = await import('../../src/operations/snapshots/snapshot-tables.ts');
      return listTables(await createContext(session), request);
    },
    async diff(session, request) {
      const { diff } = await import('../../src/operations/snapshots/diff.ts');
      return diff(await createContext(session), request);
    },
    async push(session, request) {
      const { push } = await import('../../src/operations/snapshots/push.ts');
      return push(await createContext(session), request);
    },
    async pull(session, request) {
      const { pull } = await import('../../src/operations/snapshots/pull.ts');
      return pull(await createContext(session), request);
    },
    async export(session, request) {
      const { exportSnapshot } = await import('../../src/operations/snapshots/export.ts');
      return exportSnapshot(await createContext(session), request);
    },
    async diagnose(session) {
      // Not a context: what is wrong with the configuration is to be told.
      const { diagnose } = await import('../../src/operations/configuration/fix.ts');
      return diagnose({ ...surroundings, ...session, offline: false });
    },
    async findEngines(session) {
      const { findEngines } = await import('../../src/operations/configuration/check.ts');
      return findEngines({ ...surroundings, ...session });
    },
    async listDatabases(session, url) {
      const { listDatabases } = await import('../../src/operations/configuration/try-connection.ts');
      return listDatabases({ ...surroundings, ...session }, url);
    },
    async trySource(session, url) {
      const { trySource } = await import('../../src/operations/configuration/try-connection.ts');
      return trySource({ ...surroundings, ...session }, url);
    },
    async tryDestination(session, urls) {
      const { tryDestination } = await import('../../src/operations/configuration/try-connection.ts');
      return tryDestination({ ...surroundings, ...session }, urls);
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
    async writeSetUp(plan) {
      const { writeSetUp } = await import('../../src/operations/configuration/set-up.ts');
      await writeSetUp(surroundings, plan);
      for (const [name, value] of Object.entries(plan.variables)) surroundings.environment[name] ??= value;
    },
    async planSubset(session, request) {
      const { planSubset } = await import('../../src/operations/subset/subset.ts');
      return planSubset(await createContext(session), request, { count: true });
    },
    async subset(session, planned) {
      const { subset } = await import('../../src/operations/subset/subset.ts');
      return subset(await createContext(session), planned);
    },
    async saveSubset(session, request) {
      const { saveSubset } = await import('../../src/operations/subset/save-subset.ts');
      return saveSubset(await createContext(session), request);
    },
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
    async listProviders(session) {
      const { listProviders } = await import('../../src/operations/sign-in/find-provider.ts');
      return listProviders(await createContext(session));
    },
    async signIn(session, request) {
      const { signIn } = await import('../../src/operations/sign-in/sign-in.ts');
      return signIn(await createContext(session), request);
    },
    async trust(request) {
      const { rememberTrust } = await import('../../src/config/trust/trust-store.ts');
      await rememberTrust(request, surroundings.environment);
    },
  };
}
