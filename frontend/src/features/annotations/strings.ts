/** Texts of the page of annotations. */

import { words } from '~/lib/words'

export const strings = {
  ...words,
  annotations: 'Annotations',
  annotationsLower: 'annotations',
  lead: 'Deploys, maintenance and notes. They are marked on every time axis and on the cells of their VMs.',
  none: 'No annotations yet. Add one here, or let your pipeline record each deploy with an API key of scope write:',
  noneForViewers: 'No annotations yet. People with the role editor and pipelines add them.',
  curl: (origin: string) =>
    `curl ${origin}/v1/annotations -H "Authorization: Bearer $SINEMORA_API_KEY" -H "Idempotency-Key: deploy-$CI_PIPELINE_ID" --json '{"kind": "deploy", "text": "checkout 4.2"}'`,
  command: 'Command for a pipeline',
  add: 'Add annotation',
  newAnnotation: 'New annotation',
  annotationNoun: 'annotation',
  deleteSeveralEffect: 'Their marks disappear from all charts and heatmaps.',
  text: 'Text',
  textExample: 'checkout 4.2',
  kind: 'Kind',
  start: 'Start',
  startIn: (zone: string) => `Start (${zone})`,
  startNow: 'Empty: now',
  endIn: (zone: string) => `End (${zone})`,
  endNone: 'Empty: an event without duration',
  scope: 'Scope',
  chosen: { vms: 'Annotated VMs', zones: 'Annotated zones', applications: 'Annotated applications' },
  choose: 'Choose at least one.',
  endsTooEarly: 'The end must be after the start.',
  sourceHint: 'Person or program; empty: you',
  link: 'Link',
  linkExample: 'https://ci.example.com/4711',
  counted: (count: number, noun: string) => `${count} ${noun}`,
  application: 'application',
  and: ', ',
  deletedScope: 'Deleted VMs',
}
