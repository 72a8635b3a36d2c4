import { hash } from 'node:crypto';
import { headlineOf, type VerifiedHeadline } from '../../src/repository/headlines/headline.ts';
import { foreignPath } from '../../src/repository/images/image-content.ts';
import { type ImageFacts, parseImageManifest, signerOf } from '../../src/repository/images/image-manifest.ts';
import { ManifestInvalid, parseManifest } from '../../src/repository/manifest/manifest.ts';
import { filesOf } from '../../src/repository/repository.ts';

/** The parts of a manifest that the hub needs. */
export interface ManifestSummary {
  /** With the state of the signature. */
  headline: VerifiedHeadline;
  /** Distinct objects, and the stored length of each. */
  sha256s: string[];
  storedBytes: number[];
  /** SHA-256 of the text. */
  sha256: string;
}

/** The parts of the manifest of an image that the hub needs. */
export interface ImageSummary {
  facts: Pick<ImageFacts, 'target' | 'snapshot' | 'created_at' | 'engine' | 'version' | 'platform' | 'architecture'>;
  /** The key that has signed it; `null` for a signature that does not match. */
  signer: string | null;
  /** A path that is no data. */
  foreign: string | null;
  /** Distinct chunks. */
  sha256s: string[];
  sha256: string;
}

export type SummaryReply<Summary> = { summary: Summary } | { invalid: string };

export const SUMMARIES = { snapshot: replying(summarise), image: replying(summariseImage) };

export type ManifestKind = keyof typeof SUMMARIES;

function replying<Summary>(work: (text: string) => Summary): (text: string) => SummaryReply<Summary> {
  return (text) => {
    try {
      return { summary: work(text) };
    } catch (error) {
      if (error instanceof ManifestInvalid) return { invalid: error.message };
      throw error;
    }
  };
}

function summarise(text: string): ManifestSummary {
  const manifest = parseManifest(text);
  const sizes = new Map(filesOf(manifest).map((file) => [file.sha256, file.stored_bytes]));
  const objects = { sha256s: [...sizes.keys()], storedBytes: [...sizes.values()] };
  return { headline: headlineOf(manifest), ...objects, sha256: hash('sha256', text) };
}

function summariseImage(text: string): ImageSummary {
  const image = parseImageManifest(text);
  const { target, snapshot, created_at, engine, version, platform, architecture } = image;
  return {
    facts: { target, snapshot, created_at, engine, version, platform, architecture },
    signer: signerOf(image),
    foreign: foreignPath(image),
    sha256s: [...new Set(image.chunks.map((chunk) => chunk.sha256))],
    sha256: hash('sha256', text),
  };
}
