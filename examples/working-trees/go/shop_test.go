package main

import (
	"database/sql"
	"io/fs"
	"reflect"
	"testing"

	"github.com/lib/pq"
)

func TestOrderIsKept(t *testing.T) {
	tx := begin(t)
	var item string
	err := tx.QueryRow("INSERT INTO orders (item) VALUES ('tea') RETURNING item").Scan(&item)
	if err != nil || item != "tea" {
		t.Fatal(item, err)
	}
}

func TestDatabaseHasTheMigrationsOfThisTree(t *testing.T) {
	tx := begin(t)
	var applied []string
	query := "SELECT array_agg(name ORDER BY name) FROM schema_migrations"
	if err := tx.QueryRow(query).Scan(pq.Array(&applied)); err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil || !reflect.DeepEqual(applied, names) {
		t.Fatal(applied, names, err)
	}
}

// A transaction that is rolled back after the test.
func begin(t *testing.T) *sql.Tx {
	db, err := open()
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tx.Rollback(); db.Close() })
	return tx
}
