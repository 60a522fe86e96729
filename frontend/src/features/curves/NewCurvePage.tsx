import { Textarea, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useCreateCurve } from '~/api/curves'
import { fieldsOf } from '~/lib/problem'
import { longest } from '~/ui/CheckedInput'
import { Page, pageStyles } from '~/ui/Page'
import { MeasurementsForm } from './MeasurementsForm'
import { strings } from './strings'

/** Fit a curve of the tenant to measurements. */
export function NewCurvePage() {
  const navigate = useNavigate()
  const create = useCreateCurve()
  const field = fieldsOf(create)
  return (
    <Page title={strings.addMeasurements} lead={strings.addMeasurementsLead}>
      <MeasurementsForm
        action={strings.fitCurve}
        pending={create.isPending}
        error={create.error}
        onSubmit={(input, form) => {
          const text = (name: string) => String(form.get(name)).trim()
          create.mutate(
            { ...input, name: text('name'), unit: text('unit'), description: text('description') },
            { onSuccess: (curve) => void navigate({ to: '/curves/$curveId', params: { curveId: curve.id } }) },
          )
        }}
      >
        <div className={pageStyles.form}>
          <TextInput
            {...field('name')}
            label={strings.application}
            placeholder={strings.applicationExample}
            required
            {...longest(100)}
            w={260}
          />
          <TextInput
            {...field('unit')}
            label={strings.unit}
            placeholder={strings.unitExample}
            {...longest(40)}
            w={140}
          />
        </div>
        <Textarea
          {...field('description')}
          label={strings.configuration}
          placeholder={strings.configurationExample}
          autosize
          minRows={1}
          {...longest(2000)}
        />
      </MeasurementsForm>
    </Page>
  )
}
