import { Button, FileButton, Group, Switch } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEdits } from '~/api/access'
import { serverNow } from '~/api/connection'
import { type IncidentSummary, incidentsQuery } from '~/api/incidents'
import { meshesQuery } from '~/api/meshes'
import { type Rule, rulesFile, rulesQuery, useBringRules, useChangeRule, useDeleteRule } from '~/api/rules'
import type { Mesh } from '~/api/types'
import { actOnRows } from '~/lib/inTurn'
import { named } from '~/lib/options'
import { timeOf } from '~/lib/time'
import { NO_VALUE } from '~/lib/units'
import { Age } from '~/ui/Age'
import type { Bulk } from '~/ui/BulkBar'
import { Choice } from '~/ui/Choice'
import { useClock } from '~/ui/clock'
import { ButtonLink, TextLink, WordLink } from '~/ui/links'
import { NoRows } from '~/ui/NoRows'
import { Page, pageStyles } from '~/ui/Page'
import { RecordList } from '~/ui/RecordList'
import { ActionError, Empty, Failed, Loading, Notice } from '~/ui/State'
import { rankOf, SEVERITIES } from '~/ui/severity'
import { Unloaded } from '~/ui/Unloaded'
import { strings } from '../strings'
import { conditionWords, patienceWords, scopeWords } from './ruleWords'

interface Props {
  /** Id; the first mesh when absent. */
  mesh: string | undefined
  onMesh: (mesh: string) => void
}

/** The alert rules of a mesh. */
export function RulesPage({ mesh, onMesh }: Props) {
  const meshes = useQuery(meshesQuery)
  if (!meshes.data) {
    return <Unloaded query={meshes} title={strings.alertRules} what={strings.meshesLower} failed={strings.meshes} />
  }
  const shown = mesh ?? meshes.data[0]?.id
  if (shown === undefined) {
    return (
      <Empty title={strings.noMesh} action={<ButtonLink to="/onboarding">{strings.newMesh}</ButtonLink>}>
        {strings.newMeshHasRules}
      </Empty>
    )
  }
  return <RulesOf key={shown} meshId={shown} meshes={meshes.data} onMesh={onMesh} />
}

function RulesOf({ meshId, meshes, onMesh }: { meshId: string; meshes: Mesh[]; onMesh: Props['onMesh'] }) {
  const rules = useQuery(rulesQuery(meshId))
  const { data: incidents } = useQuery(incidentsQuery(meshId, ['open', 'acknowledged', 'resolved']))
  const edits = useEdits()
  if (rules.error && !rules.data) {
    return <Failed what={strings.alertRules} error={rules.error} retry={() => void rules.refetch()} />
  }
  return (
    <Page
      title={strings.alertRules}
      lead={strings.rulesLead}
      action={
        <Group gap="xs" align="end">
          <Choice aria-label={strings.mesh} size="xs" value={meshId} data={named(meshes)} onChange={onMesh} />
          <Button
            variant="default"
            size="xs"
            renderRoot={(root) => <a {...root} href={rulesFile(meshId)} download="rules.yaml" />}
          >
            {strings.downloadYaml}
          </Button>
          {edits && (
            <ButtonLink size="xs" to="/alert-rules/new" search={{ mesh: meshId }}>
              {strings.newRule}
            </ButtonLink>
          )}
        </Group>
      }
    >
      {!rules.data ? (
        <Loading what={strings.rulesLower} />
      ) : rules.data.length === 0 ? (
        <NoRows
          next={
            edits && (
              <WordLink to="/alert-rules/new" search={{ mesh: meshId }}>
                {strings.createFirstRule}
              </WordLink>
            )
          }
        >
          {strings.noRules}
        </NoRows>
      ) : (
        <List rules={rules.data} incidents={incidents ?? []} edits={edits} />
      )}
      {edits && <Bring meshId={meshId} />}
    </Page>
  )
}

function List({ rules, incidents, edits }: { rules: Rule[]; incidents: IncidentSummary[]; edits: boolean }) {
  const clock = useClock()
  const change = useChangeRule()
  const remove = useDeleteRule()
  const enable = (enabled: boolean): Bulk<Rule>['actions'][number] => ({
    label: enabled ? strings.enable : strings.disable,
    applies: (rule) => rule.enabled !== enabled,
    run: (rows, watch) =>
      change.each(
        rows.map((rule) => ({ rule, changes: { enabled } })),
        watch,
      ),
  })
  const bulk: Bulk<Rule> = {
    nouns: [strings.ruleNoun, strings.rulesLower],
    name: ({ name }) => name,
    actions: [enable(true), enable(false), actOnRows(strings.delete, remove, strings.deleteRulesEffect)],
  }
  return (
    <>
      <ActionError error={change.error} />
      <RecordList
        label={strings.alertRules}
        rows={rules}
        id={(rule) => rule.id}
        bulk={edits && bulk}
        columns={[
          {
            title: strings.rule,
            cell: (rule) => (
              <TextLink to="/alert-rules/$ruleId" params={{ ruleId: rule.id }}>
                {rule.name}
              </TextLink>
            ),
            as: 'head',
            by: { key: 'name', value: (rule) => rule.name },
          },
          {
            title: strings.condition,
            as: 'wrap',
            by: { key: 'condition', value: (rule) => conditionWords(rule.condition) },
          },
          {
            title: strings.openNow,
            cell: (rule) => openOf(rule, incidents) || NO_VALUE,
            as: 'number',
            by: { key: 'open', value: (rule) => openOf(rule, incidents) },
          },
          {
            title: strings.lastFired,
            cell: (rule) => {
              const at = firedAt(rule, incidents)
              return at ? <Age at={at} clock={clock} now={serverNow} /> : NO_VALUE
            },
            by: { key: 'fired', value: (rule) => timeOf(firedAt(rule, incidents)) },
          },
          { title: strings.scope, cell: (rule) => scopeWords(rule.scope, rule.condition.kind), as: 'wrap' },
          { title: strings.evaluation, term: 'rule', cell: patienceWords },
          {
            title: strings.severity,
            cell: (rule) => SEVERITIES[rule.severity].word,
            by: {
              key: 'severity',
              value: (rule) => rankOf(rule.severity),
              filter: (rule) => [SEVERITIES[rule.severity].word],
            },
          },
          {
            title: strings.enabled,
            cell: (rule) =>
              edits ? (
                <Switch
                  size="xs"
                  aria-label={strings.enableRule(rule.name)}
                  checked={rule.enabled}
                  disabled={change.isPending}
                  onChange={(event) => change.mutate({ rule, changes: { enabled: event.currentTarget.checked } })}
                />
              ) : rule.enabled ? (
                strings.yes
              ) : (
                strings.no
              ),
          },
        ]}
      />
    </>
  )
}

const openOf = ({ name }: Rule, incidents: readonly IncidentSummary[]) =>
  incidents.filter(({ rules, ended_at, state }) => rules.includes(name) && !ended_at && state !== 'resolved').length

/** Return the start of the newest incident of a rule, of those that were read: the newest hundred of the mesh. */
function firedAt({ name }: Rule, incidents: readonly IncidentSummary[]): string | undefined {
  const starts = incidents.filter(({ rules }) => rules.includes(name)).map(({ onset_at }) => onset_at)
  return starts.sort().at(-1)
}

/** Import rules from a file. */
function Bring({ meshId }: { meshId: string }) {
  const bring = useBringRules(meshId)
  const done = bring.data
  return (
    <>
      <Group gap="sm">
        <FileButton
          accept=".yaml,.yml"
          inputProps={{ 'aria-label': strings.rulesAsYaml }}
          onChange={(file) => void file?.text().then((text) => bring.mutate(text))}
        >
          {(button) => (
            <Button {...button} variant="default" size="xs" loading={bring.isPending}>
              {strings.importYaml}
            </Button>
          )}
        </FileButton>
        <span className={pageStyles.lead}>{strings.importYamlEffect}</span>
      </Group>
      <ActionError error={bring.error} />
      {done && (
        <Notice tone="good">
          {strings.importResult(done.created.length, done.changed.length, done.unchanged.length)}
        </Notice>
      )}
    </>
  )
}
