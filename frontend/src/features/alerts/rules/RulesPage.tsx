import { Button, FileButton, Group, NativeSelect, Switch } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useEdits } from '~/api/access'
import { meshesQuery } from '~/api/meshes'
import { type Rule, rulesFile, rulesQuery, useBringRules, useChangeRule, useDeleteRule } from '~/api/rules'
import type { Mesh } from '~/api/types'
import { actOnRows } from '~/lib/inTurn'
import type { Bulk } from '~/ui/BulkBar'
import { Confirm } from '~/ui/Confirm'
import { ButtonLink, TextLink } from '~/ui/links'
import { NoRows } from '~/ui/NoRows'
import { Page, pageStyles } from '~/ui/Page'
import { RecordList } from '~/ui/RecordList'
import { RowAction } from '~/ui/Records'
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
    return <Unloaded query={meshes} title={strings.rules} what={strings.meshesLower} failed={strings.meshes} />
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
  const edits = useEdits()
  if (rules.error && !rules.data) {
    return <Failed what={strings.rules} error={rules.error} retry={() => void rules.refetch()} />
  }
  return (
    <Page
      title={strings.rules}
      lead={strings.rulesLead}
      action={
        <Group gap="xs" align="end">
          <NativeSelect
            aria-label={strings.mesh}
            size="xs"
            value={meshId}
            data={meshes.map(({ id, name }) => ({ value: id, label: name }))}
            onChange={(event) => onMesh(event.currentTarget.value)}
          />
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
              <TextLink inherit underline="always" to="/alert-rules/new" search={{ mesh: meshId }}>
                {strings.createFirstRule}
              </TextLink>
            )
          }
        >
          {strings.noRules}
        </NoRows>
      ) : (
        <List rules={rules.data} edits={edits} />
      )}
      {edits && <Bring meshId={meshId} />}
    </Page>
  )
}

function List({ rules, edits }: { rules: Rule[]; edits: boolean }) {
  const change = useChangeRule()
  const remove = useDeleteRule()
  const [deleting, setDeleting] = useState<Rule | null>(null)
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
        label={strings.rules}
        rows={rules}
        id={(rule) => rule.id}
        bulk={edits && bulk}
        columns={[
          {
            title: strings.rule,
            cell: (rule) => (
              <TextLink size="sm" to="/alert-rules/$ruleId" params={{ ruleId: rule.id }}>
                {rule.name}
              </TextLink>
            ),
            as: 'head',
            by: { key: 'name', value: (rule) => rule.name },
          },
          {
            title: strings.condition,
            cell: (rule) => conditionWords(rule.condition),
            as: 'wrap',
            by: { key: 'condition', value: (rule) => conditionWords(rule.condition) },
          },
          { title: strings.scope, cell: (rule) => scopeWords(rule.scope, rule.condition.kind), as: 'wrap' },
          { title: strings.evaluation, term: 'rule', cell: patienceWords },
          {
            title: strings.severity,
            cell: (rule) => SEVERITIES[rule.severity].word,
            by: { key: 'severity', value: (rule) => rankOf(rule.severity) },
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
          ...(edits
            ? [
                {
                  title: strings.actions,
                  cell: (rule: Rule) => (
                    <RowAction label={strings.deleteName(rule.name)} onClick={() => setDeleting(rule)}>
                      {strings.delete}
                    </RowAction>
                  ),
                },
              ]
            : []),
        ]}
      />
      <Confirm
        title={strings.deleteName(deleting?.name ?? '')}
        action={strings.delete}
        about={deleting?.id ?? null}
        doing={remove}
        onClose={() => setDeleting(null)}
      >
        {strings.deleteRuleEffect}
      </Confirm>
    </>
  )
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
