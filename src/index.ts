/** The library: `new PipelineBuilder(config).build()`, then `start`. */
export { PipelineBuilder, type Pipeline, type PipelineStatus } from './pipeline.ts';
export { PipelineError, type ErrorCode, type ErrorKind, type Subject } from './model/errors.ts';
export type { InstanceEvent, EventListener, EventValue } from './model/event.ts';
export type { RunSummary } from './engine/run-pipeline.ts';
export type { PipelineFile as PipelineConfig } from './config/load.ts';
