import { Anchor, Button, FileButton, Group, NativeSelect, Switch } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { meshesQuery } from '~/api/meshes'
import { type Rule, rulesFile, rulesQuery, useBringRules, useChangeRule, useDeleteRule } from '~/api/rules'
import type { Mesh } from '~/api/types'
import { Confirm } from '~/ui/Confirm'
import { Page, pageStyles } from '~/ui/Page'
import { Records, RowAction } from '~/ui/Records'
import { ActionError, Empty, Failed, Loading, Notice } from '~/ui/State'
import { SEVERITIES } from '../incidents/words'
import { useEdits } from '../session/useEdits'
import { conditionWords, patienceWords, scopeWords } from './ruleWords'

interface Props {
  /** Id; the first mesh when absent. */
  mesh: string | undefined
  onMesh: (mesh: string) => void
}

/** What a mesh is watched by. */
export function RulesPage({ mesh, onMesh }: Props) {
  const meshes = useQuery(meshesQuery)
  if (meshes.error && !meshes.data) {
    return <Failed what="The list of meshes" error={meshes.error} retry={() => void meshes.refetch()} />
  }
  if (!meshes.data) return <Loading what="meshes" />
  const shown = mesh ?? meshes.data[0]?.id
  if (shown === undefined) {
    return (
      <Empty
        title="There is no mesh yet"
        action={<Button renderRoot={(root) => <Link {...root} to="/onboarding" />}>New mesh</Button>}
      >
        Every new mesh is watched by rules from the start.
      </Empty>
    )
  }
  return <RulesOf key={shown} meshId={shown} meshes={meshes.data} onMesh={onMesh} />
}

function RulesOf({ meshId, meshes, onMesh }: { meshId: string; meshes: Mesh[]; onMesh: Props['onMesh'] }) {
  const rules = useQuery(rulesQuery(meshId))
  const edits = useEdits()
  if (rules.error && !rules.data) {
    return <Failed what="The list of rules" error={rules.error} retry={() => void rules.refetch()} />
  }
  return (
    <Page
      title="Rules"
      lead="When a window of a path is a breach, and how many of them make an incident. Changes count from the next window on."
      action={
        <Group gap="xs" align="end">
          <NativeSelect
            aria-label="Mesh"
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
            Download YAML
          </Button>
          {edits && (
            <Button size="xs" renderRoot={(root) => <Link {...root} to="/alert-rules/new" search={{ mesh: meshId }} />}>
              New rule
            </Button>
          )}
        </Group>
      }
    >
      {!rules.data ? (
        <Loading what="rules" />
      ) : rules.data.length === 0 ? (
        <p className={pageStyles.lead}>This mesh has no rule: nothing that happens on it becomes an incident.</p>
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
  return (
    <>
      <ActionError error={change.error} />
      <Records
        label="Rules"
        rows={rules}
        id={(rule) => rule.id}
        columns={[
          {
            title: 'Rule',
            cell: (rule) => (
              <Anchor
                size="sm"
                renderRoot={(root) => <Link {...root} to="/alert-rules/$ruleId" params={{ ruleId: rule.id }} />}
              >
                {rule.name}
              </Anchor>
            ),
            as: 'head',
          },
          { title: 'Condition', cell: (rule) => conditionWords(rule.condition), as: 'wrap' },
          { title: 'Scope', cell: (rule) => scopeWords(rule.scope), as: 'wrap' },
          { title: 'Windows', cell: patienceWords },
          { title: 'Severity', cell: (rule) => SEVERITIES[rule.severity].word },
          {
            title: 'Watches',
            cell: (rule) =>
              edits ? (
                <Switch
                  size="xs"
                  aria-label={`${rule.name} watches`}
                  checked={rule.enabled}
                  disabled={change.isPending}
                  onChange={(event) => change.mutate({ rule, changes: { enabled: event.currentTarget.checked } })}
                />
              ) : rule.enabled ? (
                'yes'
              ) : (
                'no'
              ),
          },
          ...(edits
            ? [
                {
                  title: 'Actions',
                  cell: (rule: Rule) => (
                    <RowAction label={`Delete ${rule.name}`} onClick={() => setDeleting(rule)}>
                      Delete
                    </RowAction>
                  ),
                },
              ]
            : []),
        ]}
      />
      <Confirm
        title={`Delete ${deleting?.name}`}
        action="Delete"
        about={deleting?.id ?? null}
        doing={remove}
        onClose={() => setDeleting(null)}
      >
        What it watched for is no longer found. Incidents it made stay.
      </Confirm>
    </>
  )
}

/** Rules from a file somebody keeps elsewhere. */
function Bring({ meshId }: { meshId: string }) {
  const bring = useBringRules(meshId)
  const done = bring.data
  return (
    <>
      <Group gap="sm">
        <FileButton
          accept=".yaml,.yml"
          inputProps={{ 'aria-label': 'Rules as YAML' }}
          onChange={(file) => void file?.text().then((text) => bring.mutate(text))}
        >
          {(button) => (
            <Button {...button} variant="default" size="xs" loading={bring.isPending}>
              Bring rules from YAML
            </Button>
          )}
        </FileButton>
        <span className={pageStyles.lead}>New ones are made, others changed; rules the file does not name stay.</span>
      </Group>
      <ActionError error={bring.error} />
      {done && (
        <Notice tone="good">
          {done.created.length} made, {done.changed.length} changed, {done.unchanged.length} as they were.
        </Notice>
      )}
    </>
  )
}
