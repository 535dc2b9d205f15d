/** The checkpoint with its effects in a wrong order, made by wrapping the parts: each must be found out. */
import type { PipelineParts } from '../../src/engine/run-pipeline.ts';
import type { CheckpointStore } from '../../src/model/checkpoint-store.ts';
import type { Sink } from '../../src/model/sink.ts';
import type { Source } from '../../src/model/source.ts';
import { intercepted } from '../kit/crash-points.ts';

type Mutant = (parts: PipelineParts) => PipelineParts;

const saving = (parts: PipelineParts, save: CheckpointStore['save']): PipelineParts => ({
  ...parts,
  checkpoints: { latest: () => parts.checkpoints.latest(), save },
});

/** Tells whether the engine is at its recovery: between reading the last checkpoint and reading the feed. */
function recovering(parts: PipelineParts): { parts: PipelineParts; isRecovering: () => boolean } {
  let isRecovering = false;
  const checkpoints: CheckpointStore = {
    latest: () => {
      isRecovering = true;
      return parts.checkpoints.latest();
    },
    save: (checkpoint) => parts.checkpoints.save(checkpoint),
  };
  const source: Source = {
    read: (position, signal) => {
      isRecovering = false;
      return parts.source.read(position, signal);
    },
    acknowledge: (position) => parts.source.acknowledge(position),
    [Symbol.asyncDispose]: () => parts.source[Symbol.asyncDispose](),
  };
  return { parts: { ...parts, checkpoints, source }, isRecovering: () => isRecovering };
}

export const MUTANTS: Readonly<Record<string, Mutant>> = {
  'commit before save': (parts) =>
    saving(parts, async (checkpoint) => {
      for (const [i, sink] of parts.sinks.entries())
        await sink.commit(checkpoint.mark, checkpoint.prepared[i] ?? null);
      await parts.checkpoints.save(checkpoint);
    }),

  'acknowledge before save': (parts) =>
    saving(parts, async (checkpoint) => {
      await parts.source.acknowledge(checkpoint.mark.position);
      await parts.checkpoints.save(checkpoint);
    }),

  'acknowledge before commit': (parts) =>
    saving(parts, async (checkpoint) => {
      await parts.checkpoints.save(checkpoint);
      await parts.source.acknowledge(checkpoint.mark.position);
    }),

  'no commit on recovery': (given) => {
    const { parts, isRecovering } = recovering(given);
    const forgetful = (sink: Sink): Sink =>
      intercepted(
        sink,
        ['commit'],
        (_, commit) =>
          async (...args) =>
            isRecovering() ? [] : await commit(...args),
      );
    return { ...parts, sinks: parts.sinks.map((sink, i) => (i === 0 ? forgetful(sink) : sink)) };
  },

  // The engine learns of an id one too low; what it does at recovery is put right, so that only the next checkpoint suffers.
  'an id used again': (given) => {
    const { parts, isRecovering } = recovering(given);
    let hasLast = false;
    const shift = (id: number): number => (isRecovering() && hasLast ? id + 1 : id);
    const checkpoints: CheckpointStore = {
      latest: async () => {
        const last = await parts.checkpoints.latest();
        hasLast = last !== null;
        return last === null ? null : { ...last, mark: { ...last.mark, id: last.mark.id - 1 } };
      },
      save: (checkpoint) => parts.checkpoints.save(checkpoint),
    };
    const sinks = parts.sinks.map((sink): Sink => ({
      write: (changes, context) => sink.write(changes, context),
      prepare: (mark) => sink.prepare(mark),
      commit: (mark, prepared) => sink.commit({ ...mark, id: shift(mark.id) }, prepared),
      discard: (after) => sink.discard(shift(after)),
      [Symbol.asyncDispose]: () => sink[Symbol.asyncDispose](),
    }));
    return { ...parts, checkpoints, sinks };
  },

  'state of the stages forgotten': (parts) => ({
    ...parts,
    stages: parts.stages.map((stage) =>
      intercepted(stage, ['loadState'], (_, load) => () => load(null)),
    ),
  }),

  'what was never saved is kept': (parts) => ({
    ...parts,
    sinks: parts.sinks.map((sink) => intercepted(sink, ['discard'], () => async () => undefined)),
  }),
};
