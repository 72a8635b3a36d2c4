import { type Container, covers, startContainer, sweepContainers } from './docker-container.ts';
import { findDaemon } from './docker-daemon.ts';
import { ensureImage, type PullRequest } from './docker-image.ts';
import type { Mount } from './runner.ts';

export interface PoolOptions extends Omit<PullRequest, 'daemon'> {
  mounts: Mount[];
  /** Visible to anybody who can inspect the container: never a secret. */
  containerEnv: Record<string, string>;
}

export interface Lease {
  container: Container;
  release(): void;
}

export type Take = (wanted: Mount[]) => Promise<Lease>;

interface Room {
  starting: Promise<Container>;
  container?: Container;
  guests: number;
  closing?: NodeJS.Timeout;
}

/** In ms; an idle container is closed. */
const IDLE = 5000;

/** One container for all commands; another one starts only for a path that is not mounted. */
export function containerPool({ mounts, containerEnv: env, ...options }: PoolOptions): Take {
  const { runner, image } = options;
  const rooms = new Set<Room>();
  let known = mounts;

  async function begin(): Promise<Container> {
    const daemon = await findDaemon(runner);
    await Promise.all([ensureImage({ ...options, daemon }), sweepContainers({ runner, daemon })]);
    return startContainer({ runner, daemon, image, mounts: known, env });
  }

  function open(): Room {
    const room: Room = { starting: begin(), guests: 0 };
    const forget = (): void => void rooms.delete(room);
    rooms.add(room);
    room.starting.then((container) => {
      room.container = container;
      container.ended.then(forget, forget);
    }, forget);
    return room;
  }

  function leave(room: Room): void {
    room.guests -= 1;
    if (room.guests > 0) return;
    room.closing = setTimeout(() => {
      rooms.delete(room);
      room.container?.close();
    }, IDLE).unref();
  }

  async function enter(room: Room, wanted: Mount[]): Promise<Lease | null> {
    clearTimeout(room.closing);
    room.guests += 1;
    let stays = false;
    try {
      const container = await room.starting;
      stays = !container.hasEnded() && container.sees(wanted);
      return stays ? { container, release: () => leave(room) } : null;
    } finally {
      if (!stays) leave(room);
    }
  }

  return async function take(wanted) {
    known = merge(known, wanted);
    while (true) {
      const room = [...rooms].find(({ container }) => !container || container.sees(wanted)) ?? open();
      const lease = await enter(room, wanted);
      if (lease) return lease;
    }
  };
}

function merge(known: Mount[], wanted: Mount[]): Mount[] {
  const added = wanted.filter((mount) => !known.some((seen) => covers(seen, mount)));
  return [...known.filter((mount) => !added.some(({ path }) => path === mount.path)), ...added];
}
