import type { Context } from '../src/context.ts';
import type { BuildRequest } from '../src/operations/build.ts';
import type { LoadRequest, PlannedLoad } from '../src/operations/load.ts';
import type { SignInRequest } from '../src/operations/sign-in.ts';
import type { SignedIn } from '../src/operations/sign-in-status.ts';
import type { SnapshotRequest } from '../src/operations/snapshots.ts';
import type {
  LoadResult,
  RemovePlan,
  SnapshotRow,
  TargetRow,
  TargetSnapshots,
  UndoPlan,
  VerifyResult,
} from '../src/results.ts';
import type { Session } from '../src/state/runs.ts';

/** What the screens can have done, as they see it. */
export interface Operations {
  listTargets(session: Session): Promise<TargetRow[]>;
  checkTarget(session: Session, target: string): Promise<TargetRow>;
  listSnapshots(session: Session, target: string): Promise<TargetSnapshots>;
  annotate(session: Session, request: SnapshotRequest & { note: string }): Promise<SnapshotRow>;
  build(session: Session, request: BuildRequest): Promise<SnapshotRow>;
  planLoad(session: Session, request: LoadRequest): Promise<PlannedLoad>;
  load(session: Session, planned: PlannedLoad): Promise<LoadResult>;
  verify(session: Session, request: SnapshotRequest): Promise<VerifyResult>;
  planRemove(session: Session, request: SnapshotRequest): Promise<RemovePlan>;
  remove(session: Session, plan: RemovePlan): Promise<void>;
  planUndo(session: Session, request: { target: string }): Promise<UndoPlan>;
  undo(session: Session, plan: UndoPlan): Promise<LoadResult>;
  signIn(session: Session, request: SignInRequest): Promise<SignedIn>;
}

/** Makes the context of a piece of work; reads the configuration when it is first needed. */
export type CreateContext = (session: Session) => Context | Promise<Context>;

/** The real operations, each loaded when it is first used: the first frame needs none of them. */
export function lazyOperations(createContext: CreateContext): Operations {
  return {
    async listTargets(session) {
      const { listTargets } = await import('../src/operations/targets.ts');
      return listTargets(await createContext(session));
    },
    async checkTarget(session, target) {
      const { checkTarget } = await import('../src/operations/targets.ts');
      return checkTarget(await createContext(session), target);
    },
    async listSnapshots(session, target) {
      const { listSnapshots } = await import('../src/operations/snapshots.ts');
      return listSnapshots(await createContext(session), target);
    },
    async annotate(session, request) {
      const { annotate } = await import('../src/operations/snapshots.ts');
      return annotate(await createContext(session), request);
    },
    async build(session, request) {
      const { build } = await import('../src/operations/build.ts');
      return build(await createContext(session), request);
    },
    async planLoad(session, request) {
      const { planLoad } = await import('../src/operations/load.ts');
      return planLoad(await createContext(session), request);
    },
    async load(session, planned) {
      const { load } = await import('../src/operations/load.ts');
      return load(await createContext(session), planned);
    },
    async verify(session, request) {
      const { verify } = await import('../src/operations/verify.ts');
      return verify(await createContext(session), request);
    },
    async planRemove(session, request) {
      const { planRemove } = await import('../src/operations/remove.ts');
      return planRemove(await createContext(session), request);
    },
    async remove(session, plan) {
      const { remove } = await import('../src/operations/remove.ts');
      return remove(await createContext(session), plan);
    },
    async planUndo(session, request) {
      const { planUndo } = await import('../src/operations/undo.ts');
      return planUndo(await createContext(session), request);
    },
    async undo(session, plan) {
      const { undo } = await import('../src/operations/undo.ts');
      return undo(await createContext(session), plan);
    },
    async signIn(session, request) {
      const { signIn } = await import('../src/operations/sign-in.ts');
      return signIn(await createContext(session), request);
    },
  };
}
