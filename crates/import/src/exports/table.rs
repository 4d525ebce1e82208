//! Tables with a value in each row: CSV with a header, or a JSON object in each line. The columns
//! are `block`, `side` and `value`, and if there are fresh processes `set`.

use std::collections::HashMap;

use bakeoff_base::problem::Problem;
use serde_json::Value;

use super::{Export, Measured, unknown};

/// A row by column.
type Row = HashMap<String, String>;

pub(super) fn read(text: &str) -> Result<Export, Problem> {
    let rows = match text.trim_start().starts_with('{') {
        true => lines(text)?,
        false => csv(text)?,
    };
    let (mut blocks, mut sets) = (Numbered::default(), Numbered::default());
    let mut values = Vec::new();
    for (number, row) in (1..).zip(&rows) {
        let cell = |name: &str| row.get(name).filter(|cell| !cell.is_empty());
        let (Some(side), Some(value)) = (cell("side"), cell("value")) else {
            return Err(format!("row {number} has no side or no value").into());
        };
        let value = value.parse();
        values.push(Measured {
            subject: cell("benchmark").cloned().unwrap_or_default(),
            side: side.clone(),
            set: cell("set").map(|set| sets.number(set)),
            // Blocks may be counted anew in each set.
            block: cell("block").map(|block| {
                let set = cell("set").map_or("", String::as_str);
                blocks.number(&format!("{set}\n{block}"))
            }),
            value: value.map_err(|_| format!("the value in row {number} is no number"))?,
        });
    }
    if values.iter().all(|one| one.block.is_none()) {
        number_turns(&mut values);
    }
    Ok(Export {
        tool: "a table",
        unit: String::new(),
        lower_is_better: None,
        values,
    })
}

/// Makes a block of each turn if the sides take turns from row to row, so that no side is ever more
/// than one value ahead of another.
fn number_turns(values: &mut [Measured]) {
    let mut seen: HashMap<(String, String), u32> = HashMap::new();
    let mut turns = Vec::new();
    let key = |one: &Measured| (one.subject.clone(), one.side.clone());
    for one in &*values {
        seen.entry(key(one)).or_default();
    }
    for one in &*values {
        let turn = seen.entry(key(one)).or_default();
        turns.push(*turn);
        *turn += 1;
        let of_subject = seen
            .iter()
            .filter(|((subject, _), _)| *subject == one.subject);
        let counts: Vec<u32> = of_subject.map(|(_, count)| *count).collect();
        let (least, most) = (counts.iter().min(), counts.iter().max());
        if least
            .zip(most)
            .is_some_and(|(least, most)| most - least > 1)
        {
            return;
        }
    }
    for (one, turn) in values.iter_mut().zip(turns) {
        one.block = Some(turn);
    }
}

/// Names with their numbers, in the order in which they come.
#[derive(Default)]
struct Numbered(HashMap<String, u32>);

impl Numbered {
    fn number(&mut self, name: &str) -> u32 {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        *self.0.entry(name.to_owned()).or_insert(next)
    }
}

fn csv(text: &str) -> Result<Vec<Row>, Problem> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let header: Vec<String> = header.iter().map(str::to_ascii_lowercase).collect();
    let has = |name: &str| header.iter().any(|one| one == name);
    if !has("side") || !has("value") {
        return Err(unknown());
    }
    let rows = reader.records().map(|record| {
        let record = record.map_err(|error| error.to_string())?;
        let cells = record.iter().map(str::to_owned);
        Ok(header.iter().cloned().zip(cells).collect())
    });
    rows.collect()
}

fn lines(text: &str) -> Result<Vec<Row>, Problem> {
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let rows = lines.map(|(index, line)| {
        let object: HashMap<String, Value> = serde_json::from_str(line)
            .map_err(|error| format!("line {} is no JSON object: {error}", index + 1))?;
        let cells = object.into_iter().map(|(name, value)| match value {
            Value::String(text) => (name, text),
            other => (name, other.to_string()),
        });
        Ok(cells.collect())
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::super::read;

    fn check(text: &str) {
        let export = read(text, None, None).unwrap();
        let found: Vec<_> = export
            .values
            .iter()
            .map(|one| (one.set, one.block, &*one.side, one.value))
            .collect();
        let expected = [
            (Some(0), Some(0), "old", 1.5),
            (Some(0), Some(0), "new", 2.0),
            (Some(1), Some(1), "old", 1e3),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn rows_are_csv_or_json_lines() {
        check("set,block,side,value\nx,a,old,1.5\nx,a, new ,2\n# a comment\ny,b,old,1e3\n");
        check(
            "{\"set\":1,\"block\":7,\"side\":\"old\",\"value\":1.5}\n\
             {\"set\":1,\"block\":7,\"side\":\"new\",\"value\":2}\n\n\
             {\"set\":2,\"block\":8,\"side\":\"old\",\"value\":1000.0}\n",
        );
    }

    #[test]
    fn rows_in_turns_are_blocks() {
        let blocks = |text: &str| -> Vec<Option<u32>> {
            let export = read(text, None, None).unwrap();
            export.values.iter().map(|one| one.block).collect()
        };
        let in_turns = "side,value\nold,1\nnew,2\nnew,2\nold,1\n";
        assert_eq!(blocks(in_turns), [Some(0), Some(0), Some(1), Some(1)]);
        assert_eq!(
            blocks("side,value\nold,1\nold,1\nnew,2\nnew,2\n"),
            [None; 4]
        );
        let in_sets = "set,block,side,value\n1,1,old,1\n1,1,new,2\n2,1,old,1\n2,1,new,2\n";
        assert_eq!(blocks(in_sets), [Some(0), Some(0), Some(1), Some(1)]);
    }

    #[test]
    fn what_is_not_there_is_said() {
        let error = |text: &str| read(text, None, None).unwrap_err().to_string();
        assert!(error("a,b\n1,2\n").contains("no table of values"));
        assert!(error("block,side,value\n1,old,fast\n").contains("row 1 is no number"));
        assert!(error("block,side,value\n1,,2\n").contains("row 1 has no side"));
        assert!(error("block,side,value\n").contains("no value"));
        assert!(error("block,side,value\n1,old,NaN\n").contains("NaN is no value of old"));
        assert!(error("{\"side\":\"old\",\n").contains("no JSON object"));
    }
}
