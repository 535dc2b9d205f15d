import { expect, test } from 'vitest';
import { mappedTarget, objectTypeOf, snakeCase } from './target-name.ts';

test.each([
  ['PumpStation', 'pump_station'],
  ['HTTPPump2', 'http_pump2'],
  ['Equipment', 'equipment'],
  ['Area51Zone', 'area51_zone'],
  ['already_snake', 'already_snake'],
  ['pump-station', 'pump_station'],
  ['IoTDevice', 'io_t_device'],
  ['ID', 'id'],
  ['userID', 'user_id'],
  ['v2', 'v2'],
  ['ÜberPumpe', 'über_pumpe'],
  ['设备', '设备'],
  ['--', ''],
])('the object type %s becomes the table %s', (name, table) => {
  expect(snakeCase(name)).toBe(table);
});

test('a name in snake_case stays as it is when converted again', () => {
  for (const name of ['HTTPPump2', 'PumpStation', 'a1B2C3', 'Area51Zone'])
    expect(snakeCase(snakeCase(name))).toBe(snakeCase(name));
});

test('the object type is the last dotted segment of its rid', () => {
  expect(objectTypeOf('ri.type.PumpStation')).toBe('PumpStation');
  expect(objectTypeOf('Pump')).toBe('Pump');
});

const pump = { target_object_type_rid: 'ri.type.PumpStation' };

test('a mapped table stands in the namespace of its source unless the sink names one', () => {
  expect(mappedTarget(pump, 'factory_db.equipment')).toEqual({
    namespace: 'factory_db',
    table: 'pump_station',
  });
  expect(mappedTarget(pump, 'factory_db.equipment', 'lake')).toEqual({
    namespace: 'lake',
    table: 'pump_station',
  });
});

test('target_table names the table, and the namespace too where it has a dot', () => {
  expect(mappedTarget({ ...pump, target_table: 'pumps' }, 'f.e', 'lake')).toEqual({
    namespace: 'lake',
    table: 'pumps',
  });
  expect(mappedTarget({ ...pump, target_table: 'plant.pumps' }, 'f.e', 'lake')).toEqual({
    namespace: 'plant',
    table: 'pumps',
  });
});
