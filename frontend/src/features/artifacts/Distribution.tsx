import { Button, Checkbox, Group } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { type FormEvent, Fragment, useRef, useState } from 'react'
import { useEdits } from '~/api/access'
import { artifactSettingsQuery, useWriteArtifactSettings } from '~/api/artifacts'
import type { ArtifactSettings, Mesh } from '~/api/types'
import { formatBytes } from '~/lib/bytes'
import { fieldsOf as namedFields } from '~/lib/problem'
import { formatCount, NO_VALUE } from '~/lib/units'
import { ChangedMeanwhile } from '~/ui/ChangedMeanwhile'
import { Dialog } from '~/ui/Dialog'
import { NumberField } from '~/ui/NumberField'
import { Panel, pageStyles } from '~/ui/Page'
import { Records, RowAction } from '~/ui/Records'
import { errorText } from '~/ui/State'
import { StatusMark } from '~/ui/StatusMark'
import { useEdited } from '~/ui/useEdited'
import { strings } from './strings'

interface Row {
  mesh: Mesh
  settings: ArtifactSettings | undefined
  error: Error | null
}

/** Whether the agents of each mesh bring each other artifacts, and the limits; editors change it in a dialog. */
export function Distribution({ meshes }: { meshes: readonly Mesh[] }) {
  const edits = useEdits()
  const found = useQueries({ queries: meshes.map(({ id }) => artifactSettingsQuery(id)) })
  const rows = meshes.map((mesh, at): Row => ({ mesh, settings: found[at]?.data, error: found[at]?.error ?? null }))
  const [changing, setChanging] = useState<string | null>(null)
  const changed = rows.find(({ mesh }) => mesh.id === changing)
  return (
    <Panel title={strings.distribution}>
      <p className={pageStyles.lead}>{strings.distributionLead}</p>
      <Records
        label={strings.distribution}
        rows={rows}
        id={({ mesh }) => mesh.id}
        columns={[
          { title: strings.mesh, cell: ({ mesh }) => mesh.name, as: 'head' },
          { title: strings.state, cell: stateOf },
          { title: strings.serving, cell: ({ settings }) => formatCount(settings?.serving), as: 'number' },
          {
            title: strings.limit,
            cell: ({ settings }) => (settings ? `${formatCount(settings.rate_mbit)} Mbit/s` : NO_VALUE),
            as: 'number',
          },
          {
            title: strings.budget,
            cell: ({ settings }) => (settings ? formatBytes(settings.budget_mib * 2 ** 20) : NO_VALUE),
            as: 'number',
          },
          {
            title: strings.change,
            cell: ({ mesh, settings }) =>
              edits && settings ? (
                <RowAction label={strings.changeOf(mesh.name)} onClick={() => setChanging(mesh.id)}>
                  {strings.change}
                </RowAction>
              ) : null,
          },
        ]}
      />
      <Dialog
        title={changed ? strings.distributionOf(changed.mesh.name) : ''}
        opened={changed?.settings !== undefined}
        onClose={() => setChanging(null)}
      >
        {changed?.settings && <SettingsForm settings={changed.settings} onDone={() => setChanging(null)} />}
      </Dialog>
    </Panel>
  )
}

function stateOf({ settings, error }: Row) {
  if (settings)
    return settings.enabled ? (
      <StatusMark status="good">{strings.on}</StatusMark>
    ) : (
      <StatusMark status="ended">{strings.off}</StatusMark>
    )
  return error ? errorText(error) : NO_VALUE
}

/** The settings that the form edits. */
const fieldsOf = ({ enabled, rate_mbit, budget_mib }: ArtifactSettings) => ({ enabled, rate_mbit, budget_mib })

const linesOf = ({ enabled, rate_mbit, budget_mib }: ReturnType<typeof fieldsOf>) => ({
  [strings.distribute]: enabled ? strings.on : strings.off,
  [strings.rate]: String(rate_mbit),
  [strings.budgetField]: String(budget_mib),
})

interface FormProps {
  settings: ArtifactSettings
  onDone: () => void
}

function SettingsForm({ settings, onDone }: FormProps) {
  const edited = useEdited(fieldsOf(settings), String(settings.version), linesOf)
  const element = useRef<HTMLFormElement>(null)
  const write = useWriteArtifactSettings(settings.mesh_id)
  const field = namedFields(write)

  function typed() {
    const data = new FormData(element.current as HTMLFormElement)
    return {
      enabled: data.get('enabled') === 'on',
      rate_mbit: Number(data.get('rate_mbit')),
      budget_mib: Number(data.get('budget_mib')),
    }
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    write.mutate({ ...typed(), version: edited.version }, { onSuccess: onDone })
  }

  return (
    <form className={pageStyles.form} onSubmit={submit} ref={element}>
      <Fragment key={edited.formKey}>
        <Checkbox name="enabled" label={strings.distribute} defaultChecked={edited.initial.enabled} data-autofocus />
        <NumberField
          {...field('rate_mbit')}
          label={strings.rate}
          description={strings.rateMeaning}
          min={1}
          max={100_000}
          step={1}
          required
          withAsterisk={false}
          defaultValue={edited.initial.rate_mbit}
        />
        <NumberField
          {...field('budget_mib')}
          label={strings.budgetField}
          min={16}
          max={1_048_576}
          step={1}
          required
          withAsterisk={false}
          defaultValue={edited.initial.budget_mib}
        />
      </Fragment>
      <ChangedMeanwhile edited={edited} error={write.error} typed={typed} />
      <Group justify="end">
        <Button variant="default" onClick={onDone}>
          {strings.cancel}
        </Button>
        <Button type="submit" loading={write.isPending}>
          {strings.save}
        </Button>
      </Group>
    </form>
  )
}
