import type { EngineContext } from '../../engine-context.ts';
import type { ImageFacet } from '../../facets/image.ts';
import { temporaryFolderFor, unprivilegedUser } from '../../shared/server/unprivileged-user.ts';
import { sharing } from './image-files.ts';
import { findPrograms } from './image-programs.ts';
import { makeImage } from './make-image.ts';
import { findServer, stopServer } from './running-server.ts';
import { startOnImage } from './start-on-image.ts';

export const images: ImageFacet = {
  ...{ findPrograms, findHome, findServer, stopServer, sharing },
  make: makeImage,
  start: startOnImage,
};

async function findHome(context: EngineContext, folder: string): ReturnType<ImageFacet['findHome']> {
  const account = await unprivilegedUser('postgres');
  if (!account) return { folder, user: undefined };
  return { folder: await temporaryFolderFor(context, account), user: { uid: account.uid, gid: account.gid } };
}
