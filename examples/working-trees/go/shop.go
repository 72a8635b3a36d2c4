// Shop applies the migrations of this tree to the database that .env names.
package main

import (
	"database/sql"
	"embed"
	"io/fs"
	"log"
	"os"

	"github.com/joho/godotenv"
	_ "github.com/lib/pq"
)

//go:embed migrations/*.sql
var files embed.FS

func main() {
	db, err := open()
	if err == nil {
		err = migrate(db)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func open() (*sql.DB, error) {
	if err := godotenv.Load(); err != nil {
		return nil, err
	}
	return sql.Open("postgres", os.Getenv("DATABASE_URL"))
}

func migrate(db *sql.DB) error {
	if _, err := db.Exec("CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY)"); err != nil {
		return err
	}
	names, err := fs.Glob(files, "migrations/*.sql")
	for _, name := range names {
		if err == nil {
			err = apply(db, name)
		}
	}
	return err
}

func apply(db *sql.DB, name string) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	added, err := tx.Exec("INSERT INTO schema_migrations VALUES ($1) ON CONFLICT DO NOTHING", name)
	if err != nil {
		return err
	}
	if count, err := added.RowsAffected(); err != nil || count == 0 {
		return err
	}
	text, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(string(text)); err != nil {
		return err
	}
	return tx.Commit()
}
