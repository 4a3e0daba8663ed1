import type { Forecast } from '../../data/types.js';
import { dayText, hourText } from '../../time/instants.js';
import { shownZone } from '../../time/zones.js';
import { ZoneNote } from '../../ui/instant.js';
import { WORDS } from '../../words.js';
import { daysOf, densityOf, type Day, type Hour } from './days.js';

const { upcoming: words } = WORDS;
const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0'));
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

interface DensityProps {
  readonly of: Forecast;
  /** Called with the fullest second of an hour that was chosen. */
  readonly onChoose: (at: string) => void;
}

/** How many runs are due, a row for a day and a column for an hour of it. */
export function Density({ of: { perHour, clockChanges }, onChoose }: DensityProps) {
  const zone = shownZone();
  const most = Math.max(...perHour.map(({ count }) => count));
  const changed = new Set(clockChanges.map(({ at }) => dayText(at, zone)));
  return (
    <>
      <div class="scrolled" role="region" aria-label={words.perHour} tabIndex={0}>
        <table class="density">
          <caption class="hidden">{words.perHour}</caption>
          <thead>
            <tr>
              <th scope="col">{words.day}</th>
              {HOURS.map((hour) => (
                <th key={hour} scope="col" class="density-hour">
                  {hour}
                </th>
              ))}
              <th scope="col" class="numeric">
                {words.total}
              </th>
            </tr>
          </thead>
          <tbody>
            {daysOf(perHour, zone).map((day) => (
              <DayRow key={day.name} {...{ day, most, zone, onChoose }} isChanged={changed.has(day.name)} />
            ))}
          </tbody>
        </table>
      </div>
      <ZoneNote />
    </>
  );
}

interface DayRowProps extends Pick<DensityProps, 'onChoose'> {
  readonly day: Day;
  readonly most: number;
  readonly zone: string;
  /** Whether clocks of some cron change on this day. */
  readonly isChanged: boolean;
}

function DayRow({ day, most, zone, isChanged, onChoose }: DayRowProps) {
  return (
    <tr>
      <th scope="row">
        {day.name}
        {isChanged ? <small class="under warn-text">{words.clocksChange}</small> : null}
      </th>
      {day.hours.map((hour, n) => (
        <td key={HOURS[n]} class={`density-cell density-${hour === null ? 'none' : densityOf(hour.count, most)}`}>
          {hour === null ? null : <HourButton {...{ hour, day: day.name, zone, onChoose }} />}
        </td>
      ))}
      <td class="numeric">{day.count.toLocaleString('en')}</td>
    </tr>
  );
}

interface HourProps extends Pick<DensityProps, 'onChoose'> {
  readonly hour: Hour;
  readonly day: string;
  readonly zone: string;
}

function HourButton({ hour: { at, count, peak, peakAt }, day, zone, onChoose }: HourProps) {
  const label = words.cell(`${day}, ${hourText(at, zone)}`, count, peak);
  if (peakAt === null) return <span class="hidden">{label}</span>;
  return (
    <button type="button" title={label} onClick={() => onChoose(peakAt)}>
      {compact.format(count)} <span class="hidden">{label}</span>
    </button>
  );
}
